#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "collector/watch/settings.h"

namespace pingloom::collector::watch_settings_test {
namespace {

WatchSettings parsed(std::string_view text) {
  const auto node = yaml::parse(text, "collector.yaml");
  WatchSettings settings;
  const auto status = readValue(*node, settings);
  EXPECT_TRUE(status) << status.error().text();
  return settings;
}

TEST(WatchSettings, areRead) {
  const WatchSettings settings = parsed(
      "{ interval: 500ms, slow_interval: 10s, hold: 20s, trace_one_in: 50, peers: { label: job }, "
      "limits: [{ metric: a, "
      "above: 1.5, "
      "samples: "
      "2, of: 4 }, { metric: b, below: -3 }] }");
  EXPECT_EQ(settings.interval, 500 * kMillisecond);
  EXPECT_EQ(settings.sampler.slow_interval, 10 * kSecond);
  EXPECT_EQ(settings.trace_one_in, 50U);
  EXPECT_EQ(settings.peers_label, "job");
  ASSERT_EQ(settings.limits.size(), 2U);
  EXPECT_EQ(settings.limits[0].limit, 1.5);
  EXPECT_EQ(settings.limits[0].hysteresis.raise, 2U);
  EXPECT_EQ(settings.limits[0].hysteresis.window, 4U);
  EXPECT_EQ(settings.limits[1].side, analytics::ThresholdRule::Side::kBelow);
  EXPECT_EQ(settings.limits[1].hysteresis.raise, 1U);
}

TEST(WatchSettings, ofTheDetectorForAllAndForOne) {
  const WatchSettings settings = parsed(
      "{ applications: { queue: { factor: 8, samples: 2 } , 'my app': {} },"
      " detector: { directions: 16, max_rank: 4, shared: 1.5, warm_up: 300, half_life: 3600.5,"
      " factor: 6, pace: 0.001, memory: 10, samples: 3, of: 7, evidence: 2.5, relearn_after: 100,"
      " learned: false, season: false } }");
  analytics::SubspaceSettings all;
  all.directions = 16;
  all.max_rank = 4;
  all.shared = 1.5;
  all.warm_up = 300;
  all.half_life = 3600.5;
  all.factor = 6;
  all.pace = 0.001;
  all.memory = 10;
  all.hysteresis = {3, 7};
  all.evidence = 2.5;
  all.relearn_after = 100;
  all.learned = false;
  all.season = false;
  EXPECT_EQ(settings.subspace, all);
  EXPECT_EQ(settings.subspaceOf("other"), all);
  EXPECT_EQ(settings.subspaceOf("my app"), all);
  all.factor = 8;
  all.hysteresis.raise = 2;
  EXPECT_EQ(settings.subspaceOf("queue"), all);
}

class BadWatchSettings : public testing::TestWithParam<const char*> {};

TEST_P(BadWatchSettings, areRefusedWithTheirPlace) {
  const auto node = yaml::parse(GetParam(), "collector.yaml");
  ASSERT_TRUE(node);
  WatchSettings settings;
  const auto status = readValue(*node, settings);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().text(), testing::StartsWith("collector.yaml:1:"));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadWatchSettings,
    testing::Values(
        "{ intervall: 1s }", "{ peers: job }", "{ peers: { label: '' } }",
        "{ peers: { label: 'a b' } }", "{ peers: { by: a } }", "{ interval: 1ms }",
        "{ interval: 2h }", "{ limits: 3 }", "{ limits: [{ above: 3 }] }",
        "{ limits: [{ metric: a }] }", "{ limits: [{ metric: a, above: 1, below: 2 }] }",
        "{ limits: [{ metric: a, above: x }] }", "{ limits: [{ metric: a, above: nan }] }",
        "{ limits: [{ metric: a, above: 1, samples: 0 }] }",
        "{ limits: [{ metric: a, above: 1, samples: 5, of: 3 }] }",
        "{ limits: [{ metric: a, above: 1, of: 100 }] }", "{ detector: 3 }",
        "{ detector: { factr: 5 } }", "{ detector: { factor: 1 } }",
        "{ detector: { factor: 1001 } }", "{ detector: { factor: nan } }",
        "{ detector: { factor: five } }", "{ detector: { directions: 65 } }",
        "{ detector: { directions: 8 } }", "{ detector: { directions: 99999999999 } }",
        "{ detector: { warm_up: 10 } }", "{ detector: { samples: 10 } }",
        "{ detector: { samples: 1, of: 65 } }", "{ detector: { pace: 0.2 } }",
        "{ detector: { evidence: -1 } }", "{ detector: { relearn_after: 0 } }",
        "{ detector: { learned: 2 } }", "{ applications: [queue] }",
        "{ applications: { queue: 3 } }", "{ applications: { queue: { half_life: 0 } } }",
        "{ applications: { queue: {}, queue: {} } }"));

}  // namespace
}  // namespace pingloom::collector::watch_settings_test
