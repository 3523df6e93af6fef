#include "controller/alerts/payload.h"

#include <gmock/gmock.h>

#include "unit/controller/alerts/support.h"

namespace pingloom::controller::payload_test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::ordered_json;

Notification notificationOf(Occasion occasion) {
  Notification made;
  made.key = "17-1795230720-0-0";
  made.occasion = occasion;
  made.made_utc = test::kOpened + kMinute;
  made.incident = test::incidentOf(17);
  if (occasion == Occasion::kResolved) made.incident.closed_utc = test::kOpened + 2 * kMinute;
  return made;
}

TEST(AlertPayload, Alertmanager) {
  auto notification = notificationOf(Occasion::kFiring);
  const Nanos now = test::kOpened + 3 * kMinute;
  Json json = Json::parse(alertmanagerBody(notification, now));
  ASSERT_EQ(json.size(), 1U);
  EXPECT_EQ(json[0]["labels"],
            Json::parse(R"({"alertname":"PingloomIncident","incident":"17","kind":"host",
              "culprit":"gpu-3","severity":"down","label_data_center":"x","label_rack":"r1"})"));
  EXPECT_EQ(json[0]["annotations"]["summary"], "gpu-3 is <slow> & more");
  EXPECT_EQ(json[0]["annotations"]["evidence"], "rdma gpu-3 -> gpu-1: network_p50 2.4 ms");
  EXPECT_EQ(json[0]["startsAt"], "2026-11-21T03:12:00Z");
  EXPECT_EQ(json[0]["endsAt"], "2026-11-21T03:20:00Z") << "five minutes ahead";
  notification.ended = {{Severity::kSlow, test::kOpened + kMinute}};
  json = Json::parse(alertmanagerBody(notification, now));
  ASSERT_EQ(json.size(), 2U) << "an alert of another severity is another alert, which ends";
  EXPECT_EQ(json[0]["labels"]["severity"], "slow");
  EXPECT_EQ(json[0]["endsAt"], "2026-11-21T03:13:00Z");
  json = Json::parse(alertmanagerBody(notificationOf(Occasion::kResolved), now));
  EXPECT_EQ(json[0]["endsAt"], "2026-11-21T03:14:00Z");
}

TEST(AlertPayload, WebhookIsAlertmanagersVersion4) {
  const Json json = Json::parse(webhookBody(notificationOf(Occasion::kFiring), "oncall"));
  EXPECT_EQ(json["version"], "4");
  EXPECT_EQ(json["status"], "firing");
  EXPECT_EQ(json["receiver"], "oncall");
  EXPECT_EQ(json["groupKey"], "pingloom/17-1795230720");
  EXPECT_EQ(json["alerts"][0]["status"], "firing");
  EXPECT_EQ(json["alerts"][0]["endsAt"], "0001-01-01T00:00:00Z");
  EXPECT_EQ(json["commonLabels"]["severity"], "down");
  EXPECT_EQ(json["notification"], "17-1795230720-0-0");
  EXPECT_EQ(json["incident"]["id"], "17");
  const Json closed = Json::parse(webhookBody(notificationOf(Occasion::kResolved), "oncall"));
  EXPECT_EQ(closed["status"], "resolved");
  EXPECT_EQ(closed["alerts"][0]["endsAt"], "2026-11-21T03:14:00Z");
  EXPECT_EQ(closed["alerts"][0]["fingerprint"], json["alerts"][0]["fingerprint"]);
}

TEST(AlertPayload, Pagerduty) {
  auto notification = notificationOf(Occasion::kFiring);
  notification.incident.sentence = std::string(5000, 'x');
  const Json json = Json::parse(pagerdutyBody(notification, "KEY"));
  EXPECT_EQ(json["routing_key"], "KEY");
  EXPECT_EQ(json["event_action"], "trigger");
  EXPECT_EQ(json["dedup_key"], "pingloom-17");
  EXPECT_EQ(json["payload"]["severity"], "critical");
  EXPECT_EQ(json["payload"]["source"], "gpu-3");
  EXPECT_EQ(json["payload"]["summary"].get<std::string>().size(), 1024U);
  const Json acknowledged =
      Json::parse(pagerdutyBody(notificationOf(Occasion::kAcknowledged), "KEY"));
  EXPECT_EQ(acknowledged, Json::parse(R"({"routing_key":"KEY","event_action":"acknowledge",
                            "dedup_key":"pingloom-17"})"));
  EXPECT_EQ(Json::parse(pagerdutyBody(notificationOf(Occasion::kResolved), "K"))["event_action"],
            "resolve");
}

TEST(AlertPayload, Slack) {
  const auto textOf = [](const Notification& notification) {
    return Json::parse(slackBody(notification))["text"].get<std::string>();
  };
  EXPECT_EQ(textOf(notificationOf(Occasion::kFiring)),
            "[down] gpu-3 is &lt;slow&gt; &amp; more\nIncident 17, host gpu-3, since "
            "2026-11-21T03:12:00Z, 46 of 46 pairs");
  EXPECT_THAT(textOf(notificationOf(Occasion::kResolved)),
              testing::AllOf(HasSubstr("[resolved] gpu-3"), HasSubstr("for 2m")));
  EXPECT_THAT(textOf(testNotification(test::kOpened)), HasSubstr("This is a test"));
}

TEST(AlertPayload, BytesThatAreNotUtf8AreReplaced) {
  auto notification = notificationOf(Occasion::kFiring);
  notification.incident.sentence = "bad \xff";
  for (const std::string& body :
       {alertmanagerBody(notification, test::kOpened), webhookBody(notification, "x"),
        pagerdutyBody(notification, "x"), slackBody(notification)}) {
    EXPECT_FALSE(Json::parse(body, nullptr, false).is_discarded());
  }
}

}  // namespace
}  // namespace pingloom::controller::payload_test
