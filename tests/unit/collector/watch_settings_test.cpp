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

TEST(WatchSettings, ofPeersForAllAndForOne) {
  const WatchSettings settings = parsed(
      "{ applications: { queue: { peers: { limit: 12, of: 20 }, factor: 8 }, cron: { peers: false "
      "},"
      " 'my app': {} },"
      " peers: { label: job, limit: 8.5, samples: 3, of: 7, memory: 60, replicas: 10 } }");
  analytics::PeerSettings all;
  all.limit = 8.5;
  all.hysteresis = {3, 7};
  all.memory = 60;
  all.replicas = 10;
  EXPECT_EQ(settings.peers_label, "job");
  EXPECT_EQ(settings.peers, all);
  EXPECT_EQ(settings.peersOf("other"), all);
  EXPECT_EQ(settings.peersOf("my app"), all);
  EXPECT_EQ(settings.subspaceOf("cron"), analytics::SubspaceSettings());
  EXPECT_EQ(settings.subspaceOf("queue").factor, 8);
  analytics::PeerSettings own = all;
  own.enabled = false;
  EXPECT_EQ(settings.peersOf("cron"), own);
  own = all;
  own.limit = 12;
  own.hysteresis.window = 20;
  EXPECT_EQ(settings.peersOf("queue"), own);
}

TEST(WatchSettings, peersAreSwitchedOffForAllAndOnForOne) {
  const WatchSettings settings = parsed(
      "{ peers: false, applications: { queue: { peers: { limit: 8 } }, db: { peers: true } } }");
  EXPECT_FALSE(settings.peersOf("other").enabled);
  EXPECT_TRUE(settings.peersOf("queue").enabled);
  EXPECT_EQ(settings.peersOf("db"), analytics::PeerSettings());
}

TEST(WatchSettings, ofPeersAreRefusedWithTheirKeyAndRange) {
  const auto refused = [](std::string_view text) {
    WatchSettings settings;
    const auto status = readValue(*yaml::parse(text, "collector.yaml"), settings);
    return status ? "" : status.error().text();
  };
  EXPECT_THAT(refused("{ peers: { limit: 0.5 } }"),
              testing::HasSubstr("peers.limit: '0.5' is not a number from 1 to 1000"));
  EXPECT_THAT(
      refused("{ applications: { queue: { peers: { replicas: 4 } } } }"),
      testing::HasSubstr("applications.queue.peers.replicas: '4' is not a whole number from 5 to"));
  EXPECT_THAT(refused("{ peers: { samples: 10 } }"),
              testing::HasSubstr("10 of 9 samples: 'samples' must be at most 'of'"));
  EXPECT_THAT(refused("{ peers: job }"), testing::HasSubstr("{ limit: 6 }"));
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
        "{ peers: { label: 'a b' } }", "{ peers: { by: a } }", "{ peers: [job] }",
        "{ peers: { limit: 1001 } }", "{ peers: { limit: nan } }", "{ peers: { limit: six } }",
        "{ peers: { samples: 0 } }", "{ peers: { samples: 10 } }", "{ peers: { of: 4 } }",
        "{ peers: { of: 65 } }", "{ peers: { memory: 0 } }", "{ peers: { memory: 3601 } }",
        "{ peers: { replicas: 4 } }", "{ peers: { replicas: 10001 } }",
        "{ applications: { queue: { peers: { label: job } } } }",
        "{ applications: { queue: { peers: { limit: 0 } } } }",
        "{ detector: { peers: { limit: 8 } } }", "{ interval: 1ms }", "{ interval: 2h }",
        "{ limits: 3 }", "{ limits: [{ above: 3 }] }", "{ limits: [{ metric: a }] }",
        "{ limits: [{ metric: a, above: 1, below: 2 }] }", "{ limits: [{ metric: a, above: x }] }",
        "{ limits: [{ metric: a, above: nan }] }",
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
