#include "controller/alerts/notifier.h"

#include <gmock/gmock.h>

#include "unit/controller/alerts/support.h"

namespace pingloom::controller::notifier_test {
namespace {

using test::incidentOf;
using test::verdictOf;
using testing::ElementsAre;
using testing::IsEmpty;

struct NotifierTest : testing::Test {
  void use(AlertKind kind) {
    target = test::targetOf(kind, {"http://h"});
    restart();
  }
  void restart() {
    auto told = ToldIncidents::open(folder.path() / "told");
    ASSERT_TRUE(told) << told.error().text();
    notifier.emplace(target, std::move(*told),
                     [this](const Notification& one) { sent.push_back(one); });
  }
  // Looks a second later and returns what was sent: "firing down".
  std::vector<std::string> look(const std::vector<Incident>& open,
                                const std::vector<Incident>& recent = {}, Nanos later = kSecond) {
    now.mono += later;
    now.utc += later;
    sent.clear();
    notifier->look(*verdictOf(open, recent), now);
    std::vector<std::string> words;
    for (const Notification& one : sent) {
      EXPECT_TRUE(keys.insert(one.key).second) << one.key << " is used twice";
      words.push_back(std::string(name(one.occasion)) + " " +
                      std::string(name(one.incident.severity)));
    }
    return words;
  }
  static Incident closed(Incident incident) {
    incident.closed_utc = test::kOpened + kMinute;
    return incident;
  }
  static Incident acknowledged(Incident incident) {
    incident.acknowledged = Acknowledgement{"ada", "on it", test::kOpened};
    return incident;
  }
  static Incident silenced(Incident incident) {
    incident.silenced_by = 4;
    return incident;
  }

  test::TemporaryDirectory folder;
  AlertTarget target;
  std::optional<Notifier> notifier;
  std::vector<Notification> sent;
  std::set<std::string> keys;
  Instant now{kHour, test::kOpened};
};

TEST_F(NotifierTest, AWebhookHearsOfOpeningChangeAndClosing) {
  use(AlertKind::kWebhook);
  EXPECT_THAT(look({}), IsEmpty());
  EXPECT_THAT(look({incidentOf(1, Severity::kSlow)}), ElementsAre("firing slow"));
  EXPECT_THAT(look({incidentOf(1, Severity::kSlow)}, {}, kHour), IsEmpty()) << "no repetition";
  EXPECT_THAT(look({incidentOf(1, Severity::kDown)}), ElementsAre("firing down"));
  EXPECT_THAT(look({incidentOf(1, Severity::kOk)}), IsEmpty()) << "on its way to the end";
  EXPECT_THAT(look({}, {closed(incidentOf(1, Severity::kOk))}), ElementsAre("resolved down"));
  EXPECT_THAT(look({}, {closed(incidentOf(1, Severity::kOk))}), IsEmpty());
}

TEST_F(NotifierTest, ARestartNeitherRepeatsNorForgets) {
  use(AlertKind::kWebhook);
  EXPECT_THAT(look({incidentOf(1)}), ElementsAre("firing down"));
  restart();
  EXPECT_THAT(look({}), IsEmpty()) << "nothing is judged yet";
  EXPECT_THAT(look({incidentOf(1)}), IsEmpty());
  restart();
  EXPECT_THAT(look({}, {closed(incidentOf(1))}), ElementsAre("resolved down"));
  restart();
  EXPECT_THAT(look({}, {closed(incidentOf(1))}), IsEmpty());
}

TEST_F(NotifierTest, WhatNoVerdictHasAnyMoreIsClosedAfterSomeTime) {
  use(AlertKind::kWebhook);
  look({incidentOf(1)});
  EXPECT_THAT(look({}), IsEmpty());
  EXPECT_THAT(look({}, {}, Notifier::kForgottenAfter - kSecond), IsEmpty());
  EXPECT_THAT(look({}), ElementsAre("resolved down"));
  EXPECT_NE(sent[0].incident.closed_utc, 0);
  look({incidentOf(2)});
  Incident namesake = incidentOf(2);
  namesake.opened_utc += kHour;
  EXPECT_THAT(look({namesake}), ElementsAre("resolved down", "firing down")) << "a new ledger";
}

TEST_F(NotifierTest, SilencedIncidentsSendNothingUntilTheyClose) {
  use(AlertKind::kWebhook);
  EXPECT_THAT(look({silenced(incidentOf(1))}), IsEmpty());
  EXPECT_THAT(look({}, {closed(silenced(incidentOf(1)))}), IsEmpty()) << "nobody knows it";
  EXPECT_THAT(look({incidentOf(2, Severity::kSlow)}), ElementsAre("firing slow"));
  EXPECT_THAT(look({silenced(incidentOf(2))}), IsEmpty());
  EXPECT_THAT(look({}, {closed(silenced(incidentOf(2)))}), ElementsAre("resolved slow"));
  EXPECT_THAT(look({silenced(incidentOf(3))}), IsEmpty());
  EXPECT_THAT(look({incidentOf(3)}), ElementsAre("firing down")) << "the silence is over";
}

TEST_F(NotifierTest, AcknowledgedIncidentsAreNotToldAgain) {
  for (const AlertKind kind : {AlertKind::kWebhook, AlertKind::kSlack, AlertKind::kCommand}) {
    use(kind);
    const std::uint64_t id = 10 + static_cast<std::uint64_t>(kind);
    look({incidentOf(id, Severity::kSlow)});
    EXPECT_THAT(look({acknowledged(incidentOf(id, Severity::kDown))}), IsEmpty());
    EXPECT_THAT(look({incidentOf(id, Severity::kDown)}), ElementsAre("firing down"));
    EXPECT_THAT(look({}, {closed(acknowledged(incidentOf(id)))}), ElementsAre("resolved down"));
  }
}

TEST_F(NotifierTest, PagerdutyHearsOfAcknowledgements) {
  use(AlertKind::kPagerduty);
  EXPECT_THAT(look({acknowledged(incidentOf(1, Severity::kSlow))}), ElementsAre("firing slow"));
  EXPECT_THAT(look({acknowledged(incidentOf(1, Severity::kDown))}),
              ElementsAre("acknowledged down"));
  restart();
  EXPECT_THAT(look({acknowledged(incidentOf(1, Severity::kDown))}), ElementsAre("firing down"));
  EXPECT_THAT(look({acknowledged(incidentOf(1, Severity::kDown))}), IsEmpty());
  EXPECT_THAT(look({incidentOf(1, Severity::kDown)}), ElementsAre("firing down")) << "taken back";
  EXPECT_THAT(look({incidentOf(1, Severity::kDown)}), IsEmpty());
}

TEST_F(NotifierTest, AnAlertmanagerHearsOfItEveryMinute) {
  use(AlertKind::kAlertmanager);
  EXPECT_THAT(look({incidentOf(1, Severity::kSlow)}), ElementsAre("firing slow"));
  EXPECT_THAT(look({incidentOf(1, Severity::kSlow)}, {}, 58 * kSecond), IsEmpty());
  EXPECT_THAT(look({acknowledged(incidentOf(1, Severity::kSlow))}, {}, 2 * kSecond),
              ElementsAre("firing slow"));
  EXPECT_THAT(look({incidentOf(1, Severity::kDown)}), ElementsAre("firing down"));
  ASSERT_EQ(sent[0].ended.size(), 1U);
  EXPECT_EQ(sent[0].ended[0].severity, Severity::kSlow);
  restart();
  EXPECT_THAT(look({silenced(incidentOf(1, Severity::kLossy))}), ElementsAre("firing down"))
      << "a silence leaves it as it is";
  EXPECT_THAT(look({incidentOf(1, Severity::kSlow)}), ElementsAre("firing slow"));
  ASSERT_EQ(sent[0].ended.size(), 1U);
  EXPECT_EQ(sent[0].ended[0].severity, Severity::kDown);
  EXPECT_THAT(look({}, {closed(incidentOf(1, Severity::kSlow))}), ElementsAre("resolved slow"));
  EXPECT_EQ(sent[0].ended.size(), 1U);
}

TEST_F(NotifierTest, WhatATargetDoesNotWantIsNotTold) {
  use(AlertKind::kWebhook);
  target.severities = {Severity::kDown};
  EXPECT_THAT(look({incidentOf(1, Severity::kSlow)}), IsEmpty());
  EXPECT_THAT(look({incidentOf(1, Severity::kDown)}), ElementsAre("firing down"));
  EXPECT_THAT(look({incidentOf(1, Severity::kSlow)}), ElementsAre("firing slow"))
      << "what was told is followed to its end";
}

TEST_F(NotifierTest, ThereIsABoundOfIncidents) {
  use(AlertKind::kWebhook);
  std::vector<Incident> many;
  for (std::uint64_t id = 1; id <= ToldIncidents::kMax + 5; ++id) many.push_back(incidentOf(id));
  EXPECT_EQ(look(many).size(), ToldIncidents::kMax);
  EXPECT_THAT(look(many), IsEmpty());
  many.erase(many.begin(), many.begin() + 2);
  EXPECT_THAT(look(many, {closed(incidentOf(1))}), ElementsAre("resolved down"));
  EXPECT_THAT(look(many), ElementsAre("firing down"));
}

}  // namespace
}  // namespace pingloom::controller::notifier_test
