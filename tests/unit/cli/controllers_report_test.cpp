#include "cli/controllers_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace pingloom::cli::controllers_report_test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

json answerOf(bool led) {
  return {{"name", "b"},
          {"role", "follower"},
          {"epoch", 4},
          {"error", nullptr},
          {"controllers",
           {{{"name", "a"},
             {"leader", led},
             {"address", "a:20711"},
             {"http", "10.0.0.5:8080"},
             {"agents", 700},
             {"lag_ns", 1'500'000'000},
             {"lease_left_ns", -100'000'000},
             {"session", 17}}}}};
}

TEST(ControllersReport, AControllerIsALine) {
  const auto lines = reportControllers(answerOf(true));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[0], StartsWith("NAME  ROLE"));
  EXPECT_THAT(lines[1], HasSubstr("a     leader  700     1.5 s  -0.1 s"));
  EXPECT_TRUE(controllersHealthy(answerOf(true)));
}

TEST(ControllersReport, SaysWhenNobodyLeadsOrItIsOutside) {
  EXPECT_THAT(reportControllers(answerOf(false)).back(), "NOBODY LEADS");
  EXPECT_FALSE(controllersHealthy(answerOf(false)));
  json outside = answerOf(true);
  outside["role"] = "outside";
  outside["error"] = "the \x1b[31mdatabase is away";
  EXPECT_EQ(reportControllers(outside).back().find('\x1b'), std::string::npos);
  EXPECT_THAT(reportControllers(outside).back(), HasSubstr("database is away"));
  EXPECT_FALSE(controllersHealthy(outside));
}

TEST(ControllersReport, OneAloneIsHealthy) {
  const json alone = {{"name", nullptr}, {"role", "alone"}, {"controllers", json::array()}};
  EXPECT_THAT(reportControllers(alone), ElementsAre(HasSubstr("works alone")));
  EXPECT_TRUE(controllersHealthy(alone));
}

TEST(ControllersReport, StrangeAnswersAreNoCrash) {
  for (const char* text :
       {"[]", "7", R"({"controllers":7})", R"({"controllers":[7,{"name":[]}]})"}) {
    EXPECT_FALSE(reportControllers(json::parse(text)).empty()) << text;
    EXPECT_FALSE(controllersHealthy(json::parse(text))) << text;
  }
}

}  // namespace
}  // namespace pingloom::cli::controllers_report_test
