#include "controller/verdict/incident_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/json_text.h"
#include "controller/model/incident_json.h"

namespace pingloom::controller::incident_keeper_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class IncidentKeeperTest : public testing::Test {
 protected:
  static constexpr Nanos kUtc = 1'795'230'720 * kSecond;
  Instant now() const { return {kSecond + passed_, kUtc + passed_}; }
  static Finding finding(const std::string& host = "gpu-3",
                         Severity severity = Severity::kVerySlow) {
    Finding made;
    made.culprit = {CulpritKind::kHost, host};
    made.entity = entityOf(made.culprit);
    made.severity = severity;
    made.probes = {"rdma"};
    made.sentence = host + " is " + std::string(name(severity));
    made.labels = {{"host", host}, {"rack", "r1"}};
    made.window = kSecond;
    return made;
  }
  // Shows these findings for so many half seconds.
  void show(const std::vector<Finding>& findings, int halves) {
    for (int i = 0; i < halves; ++i) {
      passed_ += 500 * kMillisecond;
      keeper_.update(findings, now());
    }
  }
  Incident only() {
    const Verdict verdict = keeper_.verdict();
    EXPECT_THAT(verdict.open, SizeIs(1));
    return verdict.open.empty() ? Incident{} : *verdict.open.front();
  }

  Nanos passed_ = 0;
  IncidentKeeper keeper_;
};

TEST_F(IncidentKeeperTest, AFindingThatLastsIsAnIncident) {
  show({finding()}, 1);
  EXPECT_THAT(keeper_.verdict().open, IsEmpty()) << "other reports of the window are under way";
  show({finding()}, 1);
  EXPECT_EQ(only().id, 1U);
  EXPECT_EQ(only().sentence, "gpu-3 is very slow");
  EXPECT_THAT(only().history, SizeIs(1));
}

TEST_F(IncidentKeeperTest, AnAnomalyAroundTheOpeningIsEvidenceAndStays) {
  show({finding()}, 3);
  Finding with = finding();
  with.anomalies = {{"gpu-3", "trainer", "step_seconds", "p50", "peers", 2.5, 0.015, 0.01}};
  show({with}, 1);
  EXPECT_EQ(only().sentence,
            "gpu-3 is very slow, and application trainer's step_seconds p50 is 1.50 x its peers'");
  EXPECT_THAT(only().history, SizeIs(2)) << "that it was seen is worth a line";
  show({finding()}, 300);
  EXPECT_THAT(only().anomalies, SizeIs(1)) << "it was unusual when the incident opened";
  with.anomalies.front().value = 0.03;
  show({with}, 20);
  EXPECT_EQ(only().anomalies.at(0).value, 0.015) << "it changed long after the opening";
}

TEST_F(IncidentKeeperTest, WhatCountersMovedAroundTheOpeningStays) {
  show({finding()}, 3);
  EXPECT_THAT(only().counters, IsEmpty());
  Finding with = finding();
  const auto moved = [this](std::uint64_t by) {
    return std::vector<MovedCounter>{
        {"gpu-3", "mlx5_0", 1, "symbol_error_total", CounterKind::kError, by, now().utc}};
  };
  with.counters = moved(5);
  show({with}, 1);
  EXPECT_THAT(only().counters, SizeIs(1));
  EXPECT_EQ(only().sentence,
            "gpu-3 is very slow, and port mlx5_0/1: symbol_error +5 in the same minute");
  EXPECT_THAT(only().history, SizeIs(2)) << "that it was seen is worth a line";
  with.counters = moved(9);
  show({with}, 20);
  EXPECT_EQ(only().counters.at(0).moved, 9U) << "within two minutes it grows";
  show({finding()}, 300);
  EXPECT_EQ(only().counters.at(0).moved, 9U) << "it counts as old by then";
  with.counters = moved(100);
  show({with}, 20);
  EXPECT_EQ(only().counters.at(0).moved, 9U) << "it moved long after the opening";
  EXPECT_THAT(only().history, SizeIs(2));
}

TEST_F(IncidentKeeperTest, WhatIsNotSettledHasToLastLonger) {
  Finding growing = finding();
  growing.settled = false;
  show({growing}, 6);
  EXPECT_THAT(keeper_.verdict().open, IsEmpty());
  show({growing}, 1);
  EXPECT_EQ(only().culprit.name, "gpu-3");
}

TEST_F(IncidentKeeperTest, ACloseCallWaitsForTheNextWindow) {
  Finding close = finding();
  close.close_call = true;
  show({close}, 3);
  EXPECT_THAT(keeper_.verdict().open, IsEmpty());
  show({close}, 1);
  EXPECT_EQ(only().culprit.name, "gpu-3");
}

TEST_F(IncidentKeeperTest, ACloseCallThatIsDecidedOpensAtOnce) {
  Finding close = finding();
  close.close_call = true;
  show({close}, 2);
  EXPECT_THAT(keeper_.verdict().open, IsEmpty());
  show({finding()}, 1);
  EXPECT_EQ(only().culprit.name, "gpu-3");
}

TEST_F(IncidentKeeperTest, ACloseCallOutlastsAMomentWithoutIt) {
  Finding close = finding();
  close.close_call = true;
  show({close}, 2);
  show({}, 1);
  show({close}, 1);
  EXPECT_EQ(only().culprit.name, "gpu-3") << "the other culprit was named for a moment";
}

TEST_F(IncidentKeeperTest, WhatOfACloseCallIsNotNamedAgainIsForgotten) {
  Finding close = finding();
  close.close_call = true;
  show({close}, 1);
  show({}, 2);
  show({finding()}, 1);
  EXPECT_THAT(keeper_.verdict().open, IsEmpty());
  show({finding()}, 1);
  EXPECT_THAT(keeper_.verdict().open, SizeIs(1));
}

TEST_F(IncidentKeeperTest, ALongWindowsReportsTakeLonger) {
  Finding slow = finding();
  slow.window = 10 * kSecond;
  show({slow}, 2);
  EXPECT_THAT(keeper_.verdict().open, IsEmpty());
  show({slow}, 1);
  EXPECT_THAT(keeper_.verdict().open, SizeIs(1));
}

TEST_F(IncidentKeeperTest, AFindingThatGoesAtOnceIsNone) {
  show({finding()}, 1);
  show({}, 1);
  show({finding()}, 1);
  show({}, 20);
  EXPECT_THAT(keeper_.verdict().open, IsEmpty());
  EXPECT_THAT(keeper_.takeRecords(), IsEmpty());
}

TEST_F(IncidentKeeperTest, ClosesAfterTwoWindowsAndReopensWithinTenMinutes) {
  show({finding()}, 3);
  show({}, 3);
  EXPECT_THAT(keeper_.verdict().open, SizeIs(1));
  show({}, 2);
  EXPECT_THAT(keeper_.verdict().open, IsEmpty());
  ASSERT_THAT(keeper_.verdict().recent, SizeIs(1));
  EXPECT_EQ(keeper_.verdict().recent.front()->closed_utc, now().utc - 500 * kMillisecond);
  passed_ += 9 * kMinute;
  show({finding()}, 3);
  EXPECT_EQ(only().id, 1U);
  EXPECT_EQ(only().flaps, 1U);
  EXPECT_EQ(only().closed_utc, 0);
  EXPECT_THAT(keeper_.verdict().recent, IsEmpty());
  show({}, 5);
  passed_ += 11 * kMinute;
  show({finding()}, 3);
  EXPECT_EQ(only().id, 2U);
  EXPECT_EQ(only().flaps, 0U);
}

TEST_F(IncidentKeeperTest, StaysOneWhileItsKindChanges) {
  show({finding()}, 3);
  Finding cpu = finding();
  cpu.culprit.kind = CulpritKind::kHostCpu;
  cpu.sentence = "gpu-3 is short of CPU time";
  show({cpu}, 1);
  EXPECT_EQ(only().id, 1U);
  EXPECT_EQ(only().culprit.kind, CulpritKind::kHostCpu);
  EXPECT_THAT(only().history, SizeIs(2));
}

TEST_F(IncidentKeeperTest, WhatIsOnlyNotForgivenYetChangesNothing) {
  show({finding()}, 3);
  Finding fading = finding();
  fading.shows = false;
  fading.culprit.kind = CulpritKind::kHostSend;
  fading.sentence = "what gpu-3 sends loses 0 % of the pings";
  show({fading}, 12);
  EXPECT_EQ(only().culprit.kind, CulpritKind::kHost);
  EXPECT_EQ(only().sentence, "gpu-3 is very slow");
}

TEST_F(IncidentKeeperTest, WhatIsOnlyNotForgivenYetRaisesNoSeverity) {
  show({finding()}, 3);
  Finding fading = finding("gpu-3", Severity::kDown);
  fading.shows = false;
  show({fading}, 12);
  EXPECT_EQ(only().severity, Severity::kVerySlow);
}

TEST_F(IncidentKeeperTest, WhatIsOnlyNotForgivenYetOpensNothing) {
  Finding fading = finding();
  fading.shows = false;
  show({fading}, 12);
  EXPECT_THAT(keeper_.verdict().open, IsEmpty());
  show({finding()}, 1);
  EXPECT_THAT(keeper_.verdict().open, IsEmpty()) << "it has to last from now on";
  show({finding()}, 1);
  EXPECT_EQ(only().culprit.name, "gpu-3");
}

TEST_F(IncidentKeeperTest, ASeverityRisesAtOnceAndFallsAfterFiveWindows) {
  show({finding("gpu-3", Severity::kSlow)}, 3);
  show({finding("gpu-3", Severity::kDown)}, 1);
  EXPECT_EQ(only().severity, Severity::kDown);
  show({finding("gpu-3", Severity::kSlow)}, 9);
  EXPECT_EQ(only().severity, Severity::kDown);
  show({finding("gpu-3", Severity::kSlow)}, 3);
  EXPECT_EQ(only().severity, Severity::kSlow);
}

TEST_F(IncidentKeeperTest, TheHistoryOfItsSentenceIsBounded) {
  for (int i = 0; i < 100; ++i) {
    Finding changed = finding();
    changed.figure = i % 2 == 0 ? Figure::kNetwork : Figure::kJitter;
    changed.sentence = "sentence " + std::to_string(i);
    show({changed}, 2);
  }
  EXPECT_THAT(only().history, SizeIs(Incident::kMaxHistory));
  EXPECT_EQ(only().history.back().sentence, "sentence 99");
}

TEST_F(IncidentKeeperTest, WhatIsKeptIsRestored) {
  show({finding()}, 3);
  ASSERT_TRUE(keeper_.acknowledge(1, Acknowledgement{"ann", "looking", 0}, now()));
  Silence silence;
  silence.matchers = {{"rack", "r1"}};
  silence.until_utc = now().utc + kHour;
  ASSERT_TRUE(keeper_.addSilence(silence, now()));
  ASSERT_TRUE(keeper_.beginMaintenance({"gpu-9", 0, kNever, "bob", "", false}, now()));
  IncidentKeeper next;
  next.restore(keeper_.takeRecords(), now());
  next.update({}, now());
  const Verdict verdict = next.verdict();
  ASSERT_THAT(verdict.open, SizeIs(1)) << "nothing is judged yet";
  EXPECT_EQ(verdict.open[0]->acknowledged->by, "ann");
  EXPECT_EQ(verdict.open[0]->silenced_by, 2U);
  ASSERT_THAT(verdict.silences, SizeIs(1));
  EXPECT_EQ(verdict.silences[0].matchers, silence.matchers);
  ASSERT_EQ(next.maintenance().size(), 1U);
  EXPECT_EQ(next.maintenance().at("gpu-9").until_utc, kNever);
  passed_ += IncidentKeeper::kGrace + 3 * kSecond;
  next.update({}, now());
  EXPECT_THAT(next.verdict().open, IsEmpty()) << "the trouble ended while nobody looked";
  next.update({finding("gpu-4")}, now());
  passed_ += 2 * kSecond;
  next.update({finding("gpu-4")}, now());
  EXPECT_EQ(next.verdict().open.at(0)->id, 3U) << "ids are not used again";
}

TEST_F(IncidentKeeperTest, ASilenceMatchesByLabelsAndEnds) {
  show({finding()}, 3);
  Silence silence;
  silence.until_utc = now().utc + 10 * kSecond;
  silence.matchers = {{"host", "gpu-3"}, {"probe", "udp"}};
  ASSERT_TRUE(keeper_.addSilence(silence, now()));
  EXPECT_EQ(only().silenced_by, 0U) << "it concerns rdma";
  silence.matchers = {{"kind", "host"}, {"probe", "rdma"}, {"culprit", "gpu-3"}};
  const auto added = keeper_.addSilence(silence, now());
  ASSERT_TRUE(added);
  EXPECT_EQ(only().silenced_by, added->id);
  ASSERT_TRUE(keeper_.removeSilence(added->id, now()));
  EXPECT_EQ(only().silenced_by, 0U);
  ASSERT_TRUE(keeper_.addSilence(silence, now()));
  show({finding()}, 25);
  EXPECT_EQ(only().silenced_by, 0U);
  EXPECT_THAT(keeper_.verdict().silences, IsEmpty());
}

TEST_F(IncidentKeeperTest, RefusesWhatCannotBe) {
  const auto text = [](const auto& result) { return result.error().text(); };
  EXPECT_THAT(text(keeper_.acknowledge(7, std::nullopt, now())), HasSubstr("incident 7: is not"));
  EXPECT_THAT(text(keeper_.removeSilence(7, now())), HasSubstr("silence 7"));
  EXPECT_THAT(text(keeper_.endMaintenance("x")), HasSubstr("host 'x'"));
  Silence silence;
  silence.until_utc = now().utc;
  EXPECT_THAT(text(keeper_.addSilence(silence, now())), HasSubstr("not in the future"));
  silence.until_utc += kSecond;
  EXPECT_THAT(text(keeper_.addSilence(silence, now())), HasSubstr("matchers"));
  silence.matchers = {{"host", std::string(2000, 'x')}};
  EXPECT_THAT(text(keeper_.addSilence(silence, now())), HasSubstr("longer than 1000"));
}

TEST(IncidentJson, ReadsWhatItWrites) {
  Incident incident;
  incident.id = 17;
  incident.culprit = {CulpritKind::kAddressReceive, "gpu-3/rail0"};
  incident.severity = Severity::kLossy;
  incident.figure = Figure::kLoss;
  incident.opened_utc = 1'795'230'720 * kSecond;
  incident.updated_utc = incident.opened_utc + kSecond;
  incident.probes = {"a", "b"};
  incident.bad_pairs = 3;
  incident.judged_pairs = 5;
  incident.sentence = "a \"quoted\" sentence";
  incident.candidates = {{CulpritKind::kGroup, "rack=r1"}};
  incident.labels = {{"host", "gpu-3"}};
  incident.history = {{incident.opened_utc, Severity::kLossy, "before"}};
  incident.evidence.push_back({"a", *IpAddress::parse("10.0.0.1"), *IpAddress::parse("10.0.0.2"),
                               "gpu-1", "gpu-3/rail0", PairState::kLoss, Severity::kLossy,
                               "loss 10 %"});
  incident.counters = {
      {"gpu-3", "mlx5_0", 1, "symbol_error_total", CounterKind::kError, 1204, incident.opened_utc},
      {"gpu-3", "eth0", 0, "rx_prio5_pause", CounterKind::kLoad, UINT64_MAX, incident.opened_utc}};
  incident.anomalies = {{"gpu-3", "trainer", "step_seconds", "p50", "peers", 2.5, 0.015, 0.01},
                        {"gpu-3", "queue", "depth", "", "flat", -1.5, std::nullopt, std::nullopt}};
  const std::string json = jsonLine(toJson(incident));
  const auto again = incidentFrom(json);
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(jsonLine(toJson(*again)), json);
}

TEST(IncidentJson, ADocumentOfAnEarlierVersionHasNoCounters) {
  Incident incident;
  incident.id = 7;
  auto json = toJson(incident);
  json.erase("counters");
  json.erase("anomalies");
  const auto again = incidentFrom(jsonLine(json));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_THAT(again->counters, IsEmpty());
  EXPECT_THAT(again->anomalies, IsEmpty());
}

TEST(IncidentJson, WhatIsMalformedIsAnError) {
  for (const char* bad : {"", "{", "[]", "{}", R"({"id":"x"})", R"({"id":7})", "null"}) {
    EXPECT_FALSE(incidentFrom(bad)) << bad;
    EXPECT_FALSE(silenceFrom(bad)) << bad;
    EXPECT_FALSE(maintenanceFrom(bad)) << bad;
  }
}

}  // namespace
}  // namespace pingloom::controller::incident_keeper_test
