#include "controller/control/latency_histograms.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <numeric>

#include "controller/control/batch_intake.h"
#include "controller/model/grid_plan.h"
#include "unit/controller/support.h"

namespace pingloom::controller::latency_histograms_test {
namespace {

using test::batchOf;
using test::goodRow;
using test::reportOf;
using testing::ElementsAre;

constexpr std::size_t kRtt = 3;

TEST(LatencyBuckets, DoubleFromOneMicrosecond) {
  EXPECT_EQ(latencyUpperSeconds(0), 1e-6);
  EXPECT_EQ(latencyUpperSeconds(1), 2e-6);
  EXPECT_EQ(latencyUpperSeconds(kLatencyBuckets - 2), 1.048576);
  EXPECT_EQ(latencyBucketOf(0), 0U);
  for (std::size_t bucket = 0; bucket + 1 < kLatencyBuckets; ++bucket) {
    const std::uint64_t upper = std::uint64_t{1000} << bucket;
    EXPECT_EQ(latencyBucketOf(upper), bucket) << "le is inclusive";
    EXPECT_EQ(latencyBucketOf(upper + 1), bucket + 1);
  }
  EXPECT_EQ(latencyBucketOf(UINT64_MAX), kLatencyBuckets - 1);
}

// Four hosts in two racks, and one without.
std::string pinglistWith(const std::string& probes) {
  return "version: 1\ndefaults: { window: 10s, timeout: 500ms }\nhosts:\n"
         "  a: { address: 10.0.0.1, rack: r1, row: x }\n  b: { address: 10.0.0.2, rack: r1, row: x "
         "}\n"
         "  c: { address: 10.0.0.3, rack: r2, row: x }\n  d: { address: 10.0.0.4 }\nprobes:\n" +
         probes;
}
std::shared_ptr<const GridPlan> planOf(const std::string& text) {
  auto parsed = pinglist::parse(text, "p.yaml");
  EXPECT_TRUE(parsed) << parsed.error().text();
  return makeGridPlan(std::make_shared<const pinglist::Pinglist>(std::move(*parsed)), 1);
}
const char* const kByRack =
    "  - { name: p, protocol: udp, mesh: ['10.0.0.[1-4]'], rollup: rack }\n";

std::vector<std::string> namesOf(const LatencyShape::Probe& probe) {
  std::vector<std::string> names;
  for (const auto& each : probe.combinations) names.push_back(each.source + ">" + each.destination);
  return names;
}

TEST(LatencyShape, HasTheCombinationsThatHavePairs) {
  const LatencyShape shape(*planOf(pinglistWith(kByRack)));
  ASSERT_EQ(shape.probes.size(), 1U);
  EXPECT_THAT(namesOf(shape.probes[0]), ElementsAre("r1>r1", "r1>r2", "r2>r1"))
      << "r2 has only one host";
  EXPECT_EQ(shape.series, (1 + 3) * 4 * kSeriesPerHistogram);
  EXPECT_EQ(shape.probes[0].cellOf(0, 1), 1U);
  EXPECT_EQ(shape.probes[0].cellOf(1, 2), 2U);
  EXPECT_EQ(shape.probes[0].cellOf(2, 0), 3U);
  EXPECT_EQ(shape.probes[0].cellOf(3, 0), 0U) << "d has no rack";
  EXPECT_EQ(shape.combinations_left_out, 0U);
}

TEST(LatencyShape, TcpHasNoResponderAndNoProber) {
  const LatencyShape shape(
      *planOf(pinglistWith("  - { name: t, protocol: tcp, mesh: [a, b], self: true, rollup: row }\n"
                           "  - { name: u, protocol: tcp, mesh: [a, b] }\n")));
  EXPECT_EQ(shape.series, (1 + 1 + 1) * 2 * kSeriesPerHistogram);
  EXPECT_EQ(shape.probes[1].label, "");
}

TEST(LatencyShape, IsBounded) {
  std::string hosts = "version: 1\ndefaults: { rollup: rack }\nhosts:\n";
  for (int i = 1; i <= 40; ++i) {
    hosts += fmt::format("  h{0}: {{ address: 10.0.0.{0}, rack: r{0} }}\n", i);
  }
  hosts += "probes:\n";
  const std::string mesh = ", protocol: udp, mesh: ['10.0.0.[1-40]'] }\n";
  const LatencyShape one(*planOf(hosts + "  - { name: p" + mesh));
  EXPECT_EQ(one.probes[0].combinations.size(),
            LatencyShape::kMaxSeries / (4 * kSeriesPerHistogram) - 1);
  EXPECT_LE(one.series, LatencyShape::kMaxSeries);
  EXPECT_GT(one.probes[0].left_out, 1400U);
  EXPECT_EQ(one.combinations_left_out, one.probes[0].left_out);
  EXPECT_EQ(one.probes[0].cellOf(39, 38), 0U) << "what is left out counts for the probe";

  for (int i = 0; i < 200; ++i) hosts += fmt::format("  - {{ name: p{}", i) + mesh;
  const LatencyShape many(*planOf(hosts));
  EXPECT_LE(many.series, LatencyShape::kMaxSeries);
  EXPECT_EQ(many.probes_left_out, 200 - LatencyShape::kMaxSeries / (4 * kSeriesPerHistogram));
  EXPECT_TRUE(many.probes[0].shown);
  EXPECT_FALSE(many.probes[199].shown);
}

std::uint64_t countOf(const LatencyHistogram& histogram) {
  return std::accumulate(histogram.buckets.begin(), histogram.buckets.end(), std::uint64_t{0});
}

class LatencyHistogramsTest : public testing::Test {
 protected:
  LatencyHistogramsTest() { latency_.setPlan(*planOf(pinglistWith(kByRack))); }

  void count(std::uint32_t source, std::uint32_t destination, std::uint64_t nanos) {
    latency_.begin(0, source);
    latency_.add(destination, viewOf(goodRow("10.0.0.2", nanos)));
    latency_.commit();
  }
  // The number of round trips in each cell of the first probe.
  std::vector<std::uint64_t> counts() {
    if (auto changed = latency_.takeChanged()) shown_ = std::move(changed);
    std::vector<std::uint64_t> made;
    for (const LatencyCell& cell : shown_->cells.at(0)) made.push_back(countOf(cell[kRtt]));
    return made;
  }

  LatencyHistograms latency_;
  std::shared_ptr<const LatencySnapshot> shown_;
};

TEST_F(LatencyHistogramsTest, CountsTheSamplesThemselves) {
  count(0, 1, 3'000);  // 3,000 to 3,009 ns
  count(0, 2, 900);
  EXPECT_THAT(counts(), ElementsAre(0, 10, 10, 0));
  const LatencyHistogram& rack = shown_->cells[0][1][0];
  EXPECT_EQ(rack.buckets[2], 10U) << "2 us to 4 us";
  EXPECT_EQ(rack.sum_ns, 30'045U);
  EXPECT_EQ(shown_->cells[0][2][0].buckets[0], 10U);
  EXPECT_EQ(latency_.takeChanged(), nullptr) << "nothing changed since";
}

TEST_F(LatencyHistogramsTest, CountsBuckets) {
  Distribution many;
  for (std::uint64_t i = 0; i < 1000; ++i) many.add(50'000 + i * 100);
  wire::Row row = goodRow("10.0.0.2");
  wire::encode(many, *row.mutable_rtt());
  ASSERT_GT(row.rtt().bucket_counts_size(), 0);
  latency_.begin(0, 3);
  latency_.add(0, viewOf(row));
  latency_.commit();
  EXPECT_THAT(counts(), ElementsAre(1000, 0, 0, 0)) << "d has no rack";
  const LatencyHistogram& rtt = shown_->cells[0][0][kRtt];
  EXPECT_EQ(rtt.sum_ns, many.sum());
  EXPECT_NEAR(static_cast<double>(rtt.buckets[latencyBucketOf(64'000)]), 140, 12)
      << "50.0 to 64 us, within 1.6 % of the border";
}

TEST_F(LatencyHistogramsTest, TheSumSaturates) {
  wire::Row row = goodRow("10.0.0.2");
  row.mutable_rtt()->Clear();
  row.mutable_rtt()->add_bucket_deltas(5);
  row.mutable_rtt()->add_bucket_counts(1);
  row.mutable_rtt()->set_sum(UINT64_MAX - 5);
  for (int i = 0; i < 3; ++i) {
    latency_.begin(0, 0);
    latency_.add(1, viewOf(row));
    latency_.add(1, viewOf(row));
    latency_.commit();
  }
  EXPECT_THAT(counts(), ElementsAre(0, 6, 0, 0));
  EXPECT_EQ(shown_->cells[0][1][kRtt].sum_ns, UINT64_MAX);
}

TEST_F(LatencyHistogramsTest, AReportThatIsNotCommittedCountsNothing) {
  latency_.begin(0, 0);
  latency_.add(1, viewOf(goodRow("10.0.0.2")));
  count(0, 2, 900);
  EXPECT_THAT(counts(), ElementsAre(0, 0, 10, 0));
}

TEST_F(LatencyHistogramsTest, APlanKeepsTheCounts) {
  count(0, 1, 3'000);
  count(0, 2, 3'000);
  // c moves to r1, so r1>r2 is no more; its exchanges stay the probe's.
  std::string moved = pinglistWith(kByRack);
  moved.replace(moved.find("rack: r2"), 8, "rack: r1");
  latency_.setPlan(*planOf(moved));
  EXPECT_THAT(counts(), ElementsAre(10, 10)) << "and r1>r1";
  latency_.setPlan(*planOf(
      pinglistWith("  - { name: new, protocol: udp, mesh: [a, b] }\n"
                   "  - { name: p, protocol: udp, mesh: ['10.0.0.[1-4]'], rollup: row }\n")));
  EXPECT_THAT(counts(), ElementsAre(0));
  EXPECT_EQ(countOf(shown_->cells[1][0][kRtt]), 20U);
  EXPECT_EQ(countOf(shown_->cells[1][1][kRtt]), 0U) << "another label begins again";
  latency_.setPlan(*planOf(pinglistWith("  - { name: p, protocol: tcp, mesh: [a, b] }\n")));
  EXPECT_THAT(counts(), ElementsAre(0)) << "another protocol is another measurement";
}

// Reports on their way into the grid.
class CountedOnceTest : public testing::Test {
 protected:
  static constexpr Nanos kNow = 1'795'230'720 * kSecond;

  CountedOnceTest()
      : ledger_(std::move(*Ledger::open({folder_ / "history.sqlite"}, kNow))),
        marks_(ledger_->marks()),
        writer_(std::move(ledger_)) {
    grid_.countLatencyIn(latency_);
    grid_.setPlan(planOf(pinglistWith(kByRack)), now_);
    EXPECT_TRUE(registry_.admit(test::registerOf("a", 9, {"10.0.0.1"}), "a", std::nullopt, now_));
  }

  wire::Report report(std::uint64_t age, std::vector<wire::Row> rows = {goodRow("10.0.0.2")}) {
    return reportOf("p", "10.0.0.1", kNow / (10 * kSecond) - age, rows);
  }
  // Takes a batch; the field number says that it is only shown.
  void take(std::uint64_t sequence, const wire::Report& content, bool live = false) {
    auto frame = std::make_shared<std::string>(batchOf({9, sequence}, {content}));
    if (live) frame->front() = (wire::AgentMessage::kLiveFieldNumber << 3) | 2;
    (void)intake_.take(*registry_.find("a"), *frame, frame, now_);
  }
  void waitForCommit() {
    EXPECT_TRUE(test::eventually([&] { return !intake_.takeCommitted().empty(); }));
  }
  std::uint64_t roundTrips() {
    if (auto changed = latency_.takeChanged()) shown_ = std::move(changed);
    std::uint64_t count = 0;
    for (const LatencyCell& cell : shown_->cells.at(0)) count += countOf(cell[kRtt]);
    return count;
  }

  Instant now_{0, kNow};
  test::TemporaryDirectory folder_;
  Registry registry_;
  Board board_;
  LatencyHistograms latency_;
  std::shared_ptr<const LatencySnapshot> shown_;
  Grid grid_{registry_, board_};
  std::unique_ptr<Ledger> ledger_;
  BatchMarks marks_;
  LedgerWriter writer_;
  BatchIntake intake_{registry_, grid_, marks_, writer_};
};

TEST_F(CountedOnceTest, ShownBeforeItIsCommitted) {
  take(2, report(1), true);
  EXPECT_EQ(roundTrips(), 10U) << "at once, although it is not committed";
  take(2, report(1), true);
  take(1, report(2));
  waitForCommit();
  EXPECT_EQ(roundTrips(), 20U);
  take(2, report(1));
  waitForCommit();
  EXPECT_EQ(roundTrips(), 20U) << "it was counted when it was shown";
  take(2, report(1));
  take(2, report(1), true);
  EXPECT_EQ(roundTrips(), 20U) << "it is a duplicate";
}

TEST_F(CountedOnceTest, SentAgainAfterACommitFailed) {
  take(1, report(3));
  waitForCommit();
  take(2, report(2));
  take(3, report(1));
  EXPECT_EQ(roundTrips(), 30U);
  marks_.failed("a");
  take(2, report(2));
  take(3, report(1));
  EXPECT_EQ(roundTrips(), 30U);
  registry_.find("a")->suspended = true;
  take(4, report(0));
  EXPECT_EQ(roundTrips(), 40U);
  registry_.find("a")->suspended = false;
  take(4, report(0));
  EXPECT_EQ(roundTrips(), 40U);
}

TEST_F(CountedOnceTest, AReplayedWindowCountsAndDoesNotHideTheNewerOne) {
  take(1, report(1));
  take(2, report(50, {goodRow("10.0.0.2", 70'000)}));
  EXPECT_EQ(roundTrips(), 20U);
  EXPECT_LT(board_.source(0, 0, 1)->rows->rows[1].rtt.max, 70'000U);
}

TEST_F(CountedOnceTest, NothingOfAReportThatContradictsItself) {
  wire::Row bad = goodRow("10.0.0.3");
  bad.set_lost(5);
  take(1, report(1, {goodRow("10.0.0.2"), bad}));
  EXPECT_EQ(roundTrips(), 0U);
}

TEST_F(CountedOnceTest, NothingOfPairsThatThePlanDoesNotHave) {
  take(1, report(1, {goodRow("10.0.0.1"), goodRow("10.9.9.9")}));
  wire::Report other = report(1);
  other.set_probe("other");
  take(2, other);
  other.set_probe("p");
  other.set_protocol(wire::TCP);
  take(3, other);
  EXPECT_EQ(roundTrips(), 0U);
}

TEST_F(CountedOnceTest, NothingOfASinglePath) {
  grid_.setPlan(
      planOf(pinglistWith("  - { name: p, protocol: rdma, mesh: ['10.0.0.[1-4]'], paths: 2 }\n")),
      now_);
  for (std::uint32_t path = 0; path <= 2; ++path) {
    wire::Report one = report(1);
    one.set_protocol(wire::RDMA);
    one.set_path(path);
    take(path + 1, one);
  }
  EXPECT_EQ(roundTrips(), 10U) << "the row of all paths has the exchanges of each";
}

TEST_F(CountedOnceTest, NothingThatTheLedgerRestores) {
  ReportView view;
  const std::string bytes = report(1).SerializeAsString();
  ASSERT_TRUE(view.read(bytes));
  ASSERT_TRUE(grid_.apply(view, *readHead(view.head()), {0, 1, kNow}, now_));
  EXPECT_EQ(roundTrips(), 0U) << "the run of before has counted it";
}

TEST(CountedBatches, RemembersWhatWasShownOutOfOrder) {
  CountedBatches counted;
  EXPECT_TRUE(counted.show("a", {1, 5}));
  EXPECT_TRUE(counted.show("a", {1, 7}));
  EXPECT_TRUE(counted.show("a", {1, 6}));
  EXPECT_TRUE(counted.show("a", {1, 4}));
  EXPECT_TRUE(counted.show("b", {1, 4}));
  for (std::uint64_t i = 4; i <= 7; ++i) EXPECT_FALSE(counted.show("a", {1, i}));
  EXPECT_TRUE(counted.take("a", {1, 3}));
  for (std::uint64_t i = 4; i <= 7; ++i) EXPECT_FALSE(counted.take("a", {1, i}));
  EXPECT_TRUE(counted.take("a", {1, 8}));
  EXPECT_FALSE(counted.take("a", {1, 5})) << "again after a failed commit";
  EXPECT_TRUE(counted.take("a", {2, 1})) << "another incarnation";
}

TEST(CountedBatches, BeyondTheBoundABatchIsCountedWhenItIsCommitted) {
  CountedBatches counted;
  for (std::uint64_t i = 1; i <= CountedBatches::kMaxRanges; ++i) {
    EXPECT_TRUE(counted.show("a", {1, 2 * i}));
  }
  const std::uint64_t beyond = 2 * CountedBatches::kMaxRanges + 2;
  EXPECT_FALSE(counted.show("a", {1, beyond}));
  EXPECT_TRUE(counted.show("a", {1, 3})) << "it joins two ranges";
  EXPECT_TRUE(counted.show("a", {1, beyond})) << "and so there is room again";
  EXPECT_TRUE(counted.take("a", {1, 1}));
  EXPECT_FALSE(counted.take("a", {1, 2}));
  EXPECT_TRUE(counted.take("a", {1, 5}));
  EXPECT_FALSE(counted.take("a", {1, beyond}));
}

}  // namespace
}  // namespace pingloom::controller::latency_histograms_test
