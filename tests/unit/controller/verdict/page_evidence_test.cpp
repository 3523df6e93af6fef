#include "controller/verdict/page_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/model/incident.h"

namespace pingloom::controller::page_evidence_test {
namespace {

PageAnomaly anomaly(const std::string& application, double score,
                    const std::string& host = "gpu-3") {
  return {host, application, "step_seconds", "p50", "peers", score, 0.015, 0.01};
}

TEST(PageEvidence, TheLargestIsNamedAndTheOthersAreCounted) {
  std::vector<PageAnomaly> anomalies = {anomaly("a", 1.5), anomaly("b", -4)};
  rankAnomalies(anomalies);
  EXPECT_EQ(clauseOf(anomalies, "gpu-3"),
            ", and application b's step_seconds p50 is 1.50 x its peers' (1 more application is "
            "unusual)");
  for (int i = 0; i < 9; ++i) anomalies.push_back(anomaly("c", 1.1, "gpu-4"));
  rankAnomalies(anomalies);
  EXPECT_EQ(anomalies.size(), Incident::kMaxAnomalies);
  EXPECT_EQ(clauseOf(anomalies, "gpu-3"),
            ", and application b's step_seconds p50 is 1.50 x its peers' on gpu-3 (3 more "
            "applications are unusual)");
  EXPECT_EQ(clauseOf(std::vector<PageAnomaly>(), "gpu-3"), "");
}

TEST(PageEvidence, TheHostIsNamedUnlessTheSentenceIsAboutIt) {
  const std::vector<PageAnomaly> anomalies = {anomaly("a", 2)};
  EXPECT_EQ(clauseOf(anomalies, "gpu-3"),
            ", and application a's step_seconds p50 is 1.50 x its peers'");
  EXPECT_EQ(clauseOf(anomalies, ""),  // a rack, a switch
            ", and application a's step_seconds p50 is 1.50 x its peers' on gpu-3");
}

TEST(PageEvidence, WithoutPeersItSaysInWhichStatistic) {
  PageAnomaly one = anomaly("queue", -2.25);
  one.metric = "depth";
  one.part = "";
  one.statistic = "sustained";
  one.peers = std::nullopt;
  EXPECT_EQ(clauseOf({one}, "gpu-3"),
            ", and application queue's depth is unusual (sustained, score 2.2)");
  one.statistic = "peers";
  one.peers = 0;
  EXPECT_EQ(clauseOf({one}, "gpu-3"),
            ", and application queue's depth is unusual (peers, score 2.2)");
}

TEST(PageEvidence, WhatAgentsMeasureIsNoEvidenceForItself) {
  std::vector<PageAnomaly> anomalies = {anomaly("pingloom-agent", 9)};
  anomalies[0].metric = "pingloom_ping_rtt_seconds{probe=udp}";
  rankAnomalies(anomalies);
  EXPECT_TRUE(anomalies.empty());
}

TEST(PageAnomalies, AreThoseOfAHostForAWhile) {
  PageAnomalies known;
  known.set("http://a", {anomaly("one", 2), anomaly("other", 2, "gpu-4")}, 0);
  known.set("http://b", {anomaly("one", 3)}, kSecond);
  const auto found = known.of("gpu-3", PageAnomalies::kValid);
  ASSERT_EQ(found.size(), 1U) << "two collectors that read a host say the same";
  EXPECT_EQ(found[0].score, 2);
  EXPECT_EQ(known.of("gpu-3", PageAnomalies::kValid + 1).at(0).score, 3);
  EXPECT_TRUE(known.of("gpu-3", PageAnomalies::kValid + kSecond + 1).empty());
  known.set("http://b", {}, 2 * kSecond);
  EXPECT_TRUE(known.of("gpu-4", PageAnomalies::kValid + 1).empty());
}

}  // namespace
}  // namespace pingloom::controller::page_evidence_test
