#include "cli/alerts_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "unit/cli/captured_run.h"

namespace pingloom::cli::alerts_report_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(AlertsReport, ATargetIsALine) {
  const auto lines = reportAlerts(json::parse(R"({"targets":[{"name":"oncall","kind":"webhook",
    "delivered":12,"failed":3,"dropped":0,"waiting":1,"last_error":"http://h: \u001b[31m refused",
    "last_delivered":null}]})"));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], HasSubstr("NAME    KIND"));
  EXPECT_THAT(lines[1], HasSubstr("oncall  webhook  12"));
  EXPECT_THAT(lines[1], testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(reportAlerts(json::parse(R"({"targets":[]})")), ElementsAre(HasSubstr("no targets")));
}

TEST(AlertsReport, ATestSaysWhatCameBack) {
  const auto answer = json::parse(R"({"target":"oncall","delivered":false,"places":[
    {"place":"https://a","delivered":true,"status":200,"answer":"ok","error":null},
    {"place":"https://b","delivered":false,"status":null,"answer":"",
     "error":"https://b: cannot connect: Connection refused"}]})");
  EXPECT_THAT(
      reportAlertTest(answer),
      ElementsAre("https://a: delivered, 200", "  ok",
                  "https://b: NOT delivered: https://b: cannot connect: Connection refused"));
  EXPECT_FALSE(wasDelivered(answer));
}

TEST(AlertsReport, StrangeAnswersAreNoCrash) {
  for (const char* text : {"null", "[]", "{}", R"({"targets":3,"places":{}})",
                           R"({"targets":[1,null],"places":[7,{"delivered":"x"}]})"}) {
    const auto answer = json::parse(text);
    reportAlerts(answer);
    reportAlertTest(answer);
    EXPECT_FALSE(wasDelivered(answer)) << text;
  }
}

TEST(AlertsCommand, WrongUsage) {
  EXPECT_EQ(capture(runAlerts, {}).code, 2);
  EXPECT_THAT(capture(runAlerts, {"lst"}).err, HasSubstr("did you mean 'list'?"));
  EXPECT_EQ(capture(runAlerts, {"test"}).code, 2);
  EXPECT_THAT(capture(runAlerts, {"test", "../status"}).err, HasSubstr("no target's name"));
  const auto silent = capture(runAlerts, {"test", "--url", "http://127.0.0.1:1", "oncall"});
  EXPECT_EQ(silent.code, 2);
  EXPECT_THAT(silent.err, HasSubstr("/api/v1/alerts/oncall/test"));
}

}  // namespace
}  // namespace pingloom::cli::alerts_report_test
