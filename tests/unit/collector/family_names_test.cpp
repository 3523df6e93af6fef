#include "collector/family_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pingloom::collector::family_names_test {
namespace {

using testing::HasSubstr;

class Names : public testing::Test {
 protected:
  std::shared_ptr<const FamilyName> claim(pingloom_metric_kind kind, const std::string& name,
                                          const std::string& application = "shop") {
    pages::Metric metric;
    metric.kind = kind;
    metric.name = name;
    auto claimed = names.claim(metric, {"a", application, 5});
    kept.push_back(claimed);
    return claimed;
  }
  std::string shown(pingloom_metric_kind kind, const std::string& name) {
    return claim(kind, name)->shown;
  }

  FamilyNames names;
  std::vector<std::shared_ptr<const FamilyName>> kept;
};

TEST_F(Names, TheLaterKindIsShownUnderItsKindAndBothSidesAreNamed) {
  EXPECT_EQ(claim(PINGLOOM_GAUGE, "jobs_total", "queue")->conflict, "");
  const auto later = claim(PINGLOOM_COUNTER, "jobs_total", "shop");
  EXPECT_EQ(later->shown, "jobs_counter_total");
  EXPECT_EQ(
      later->conflict,
      "counter 'jobs_total' of application 'shop' (pid 5) on host 'a' is shown as "
      "'jobs_counter_total', because the gauge 'jobs_total' of application 'queue' (pid 5) on "
      "host 'a' came first");
  EXPECT_EQ(claim(PINGLOOM_COUNTER, "jobs_total", "third"), later) << "a family is one";
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "jobs_total"), "jobs_total");
}

TEST_F(Names, SamplesOfTwoFamiliesAreNotNamedAlike) {
  EXPECT_EQ(shown(PINGLOOM_HISTOGRAM, "h"), "h");
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "h_count"), "h_count_gauge");
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "h_max"), "h_max");
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "i_bucket"), "i_bucket");
  EXPECT_EQ(shown(PINGLOOM_HISTOGRAM, "i"), "i_histogram");
  EXPECT_EQ(shown(PINGLOOM_SUMMARY, "s"), "s");
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "s_sum"), "s_sum_gauge");
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "s_bucket"), "s_bucket") << "a summary has none";
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "t_count"), "t_count");
  EXPECT_EQ(shown(PINGLOOM_SUMMARY, "t"), "t_summary");
  EXPECT_EQ(shown(PINGLOOM_COUNTER, "c_total"), "c_total");
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "c"), "c_gauge") << "OpenMetrics calls the counter c";
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "build_info"), "build_info");
  EXPECT_EQ(shown(PINGLOOM_INFO, "build_info"), "build_info_2_info");
}

TEST_F(Names, ANameWithItsKindMayBeTakenToo) {
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "x"), "x");
  EXPECT_EQ(shown(PINGLOOM_COUNTER, "x_histogram"), "x_histogram");
  EXPECT_EQ(shown(PINGLOOM_HISTOGRAM, "x"), "x_histogram_2");
}

TEST_F(Names, WhoeverTakesAllNamesOnPurposeIsLeftOut) {
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "x"), "x");
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "x_counter"), "x_counter");
  for (int i = 2; i <= 20; ++i) shown(PINGLOOM_GAUGE, "x_counter_" + std::to_string(i));
  const auto last = claim(PINGLOOM_COUNTER, "x");
  EXPECT_EQ(last->shown, "");
  EXPECT_THAT(last->conflict,
              HasSubstr("is left out, because the gauge 'x' of application 'shop'"));
}

TEST_F(Names, TheCollectorsOwnNamesAreItsOwn) {
  const auto taken = claim(PINGLOOM_COUNTER, "pingloom_collector_rounds_total");
  EXPECT_EQ(taken->shown, "exported_pingloom_collector_rounds_total");
  EXPECT_THAT(taken->conflict, HasSubstr("are the collector's own"));
  EXPECT_EQ(shown(PINGLOOM_COUNTER, "pingloom_agent_x_total"), "pingloom_agent_x_total");
}

TEST_F(Names, ProcessMetricsOfTheSameKindJoinTheCollectorsOwn) {
  EXPECT_EQ(shown(PINGLOOM_COUNTER, "process_cpu_seconds_total"), "process_cpu_seconds_total");
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "process_open_fds"), "process_open_fds");
  EXPECT_THAT(claim(PINGLOOM_COUNTER, "process_open_fds")->conflict,
              HasSubstr("the gauge 'process_open_fds' of the collector itself came first"));
}

TEST_F(Names, AFamilyKeepsItsNameAndLosesItWhenNobodyDeclaresIt) {
  auto gauge = claim(PINGLOOM_GAUGE, "x");
  auto counter = claim(PINGLOOM_COUNTER, "x");
  kept.clear();
  gauge.reset();
  EXPECT_EQ(shown(PINGLOOM_COUNTER, "x"), "x_counter") << "its series are not renamed";
  kept.clear();
  counter.reset();
  EXPECT_EQ(shown(PINGLOOM_COUNTER, "x"), "x");
  EXPECT_EQ(shown(PINGLOOM_GAUGE, "x"), "x_gauge");
}

TEST_F(Names, FamiliesThatEndedAreForgotten) {
  const auto first = claim(PINGLOOM_GAUGE, "first");
  for (int i = 0; i < 5000; ++i) {
    claim(PINGLOOM_GAUGE, "g" + std::to_string(i));
    kept.clear();
  }
  EXPECT_EQ(claim(PINGLOOM_GAUGE, "first"), first);
  EXPECT_EQ(shown(PINGLOOM_COUNTER, "g1"), "g1");
}

}  // namespace
}  // namespace pingloom::collector::family_names_test
