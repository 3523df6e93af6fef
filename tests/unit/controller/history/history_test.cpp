#include "controller/history/history.h"

#include <gtest/gtest.h>

#include <future>

#include "controller/history/history_reader.h"
#include "controller/history/ledger.h"
#include "controller/history/past_pair.h"
#include "controller/history/past_presence.h"
#include "unit/controller/history/test_history.h"
#include "unit/controller/support.h"

namespace pingloom::controller::history_test {
namespace {

using test::ip;

constexpr Nanos kWindow = 10 * kSecond;
constexpr std::uint64_t kFirst = 179'523'072;  // the window of 2026-11-21T03:12:00Z
constexpr Nanos kUtc = static_cast<Nanos>(kFirst) * kWindow;

Distribution distributionOf(std::initializer_list<std::uint64_t> samples) {
  Distribution made;
  for (const std::uint64_t sample : samples) made.add(sample);
  return made;
}

wire::Report reportOf(std::uint64_t window_index, std::uint32_t path = 0) {
  wire::Report report;
  report.set_probe("rack");
  report.set_source(ip("10.0.0.1").wire());
  report.set_protocol(wire::UDP);
  report.set_window_index(window_index);
  report.set_window_ns(kWindow);
  report.set_clock(2);
  report.set_device("eth0");
  report.set_path(path);
  return report;
}

wire::Row& addRow(wire::Report& report, const char* destination, std::uint32_t received,
                  std::uint32_t lost, std::initializer_list<std::uint64_t> network = {}) {
  wire::Row& row = *report.add_rows();
  row.set_destination(ip(destination).wire());
  row.set_sent(received + lost);
  row.set_received(received);
  row.set_lost(lost);
  if (network.size() > 0) wire::encode(distributionOf(network), *row.mutable_network());
  return row;
}

class HistoryTest : public testing::Test {
 protected:
  HistoryTest() {
    auto opened = Ledger::open({place(), 24 * kHour, 1ULL << 30}, kUtc);
    EXPECT_TRUE(opened);
    ledger_ = std::move(*opened);
  }
  HistoryPlace place() const { return history_.place(); }
  void commit(const wire::Report& report) {
    const LedgerBatch batch = test::ledgerBatchOf({1, ++sequence_}, report);
    ASSERT_TRUE(ledger_->commit({&batch, 1}, kUtc));
  }
  std::unique_ptr<History> open() {
    auto opened = History::open(place());
    EXPECT_TRUE(opened) << opened.error().text();
    return std::move(*opened);
  }
  PastRange all() const { return {"rack", ip("10.0.0.1"), 0, 0, INT64_MAX}; }

  test::TestHistory history_;
  std::unique_ptr<Ledger> ledger_;
  std::uint64_t sequence_ = 0;
};

TEST_F(HistoryTest, BeginsEmptyAndHasASpan) {
  const auto history = open();
  EXPECT_FALSE(history->span().value().has_value());
  for (const std::uint64_t window : {kFirst + 3, kFirst, kFirst + 1}) commit(reportOf(window));
  const auto span = history->span().value();
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(span->oldest_utc, kUtc);
  EXPECT_EQ(span->newest_utc, kUtc + 3 * kWindow);
}

TEST_F(HistoryTest, AtATimeItIsTheWindowAroundIt) {
  const auto history = open();
  commit(reportOf(kFirst));
  commit(reportOf(kFirst, 2));
  commit(reportOf(kFirst + 2));
  using Found = std::vector<Nanos>;
  const auto starts = [&](Nanos at, const char* probe = "rack", const char* source = "10.0.0.1") {
    Found found;
    EXPECT_TRUE(history->at(probe, ip(source), at, [&](const PastContent& block) {
      EXPECT_EQ(block.path, 0U) << "of all paths together";
      found.push_back(block.start_utc);
    }));
    return found;
  };
  EXPECT_EQ(starts(kUtc - 1), Found{});
  EXPECT_EQ(starts(kUtc), (Found{kUtc}));
  EXPECT_EQ(starts(kUtc + kWindow - 1), (Found{kUtc}));
  EXPECT_EQ(starts(kUtc + kWindow), Found{}) << "a gap is not covered by what was before it";
  EXPECT_EQ(starts(kUtc + 2 * kWindow), (Found{kUtc + 2 * kWindow}));
  EXPECT_EQ(starts(kUtc, "other"), Found{});
  EXPECT_EQ(starts(kUtc, "rack", "10.0.0.2"), Found{});
}

TEST_F(HistoryTest, AtATimeLongWindowsAreFoundToo) {
  wire::Report report = reportOf(0);
  report.set_window_ns(kHour);
  report.set_window_index(static_cast<std::uint64_t>(kUtc / kHour));
  commit(report);
  const auto history = open();
  const auto found = [&](Nanos at) {
    int blocks = 0;
    EXPECT_TRUE(history->at("rack", ip("10.0.0.1"), at, [&](const PastContent&) { ++blocks; }));
    return blocks;
  };
  const Nanos begin = kUtc / kHour * kHour;
  EXPECT_EQ(found(begin - 1), 0);
  EXPECT_EQ(found(begin), 1);
  EXPECT_EQ(found(begin + 59 * kMinute), 1);
  EXPECT_EQ(found(begin + kHour), 0);
}

TEST_F(HistoryTest, ARangeIsVisitedInOrderAndCanBeThinned) {
  const auto history = open();
  for (std::uint64_t i = 0; i < 10; ++i) commit(reportOf(kFirst + i));
  PastRange range = all();
  range.from_utc = kUtc + kWindow;
  range.until_utc = kUtc + 9 * kWindow;
  EXPECT_EQ(history->count(range).value_or(0), 8U);
  range.every = 4;  // the indexes that divide by it
  std::vector<Nanos> starts;
  EXPECT_TRUE(history->visit(range, [&](const PastContent& r) { starts.push_back(r.start_utc); }));
  EXPECT_EQ(starts, (std::vector<Nanos>{kUtc + 4 * kWindow, kUtc + 8 * kWindow}));
}

TEST_F(HistoryTest, APairIsMergedFromItsSamples) {
  wire::Report first = reportOf(kFirst);
  addRow(first, "10.0.0.2", 3, 1, {1000, 1000, 1000}).set_jitter_ns(100);
  addRow(first, "10.0.0.3", 1, 0, {5});
  commit(first);
  wire::Report second = reportOf(kFirst + 1);
  addRow(second, "10.0.0.3", 1, 0, {7});
  addRow(second, "10.0.0.2", 1, 0, {9000}).set_jitter_ns(500);
  commit(second);
  commit(reportOf(kFirst + 2));  // without the pair
  const auto history = open();
  PastPair pair(ip("10.0.0.2"));
  EXPECT_TRUE(history->visit(all(), [&](const PastContent& block) { pair.add(block); }));
  EXPECT_EQ(pair.windows(), 2U);
  const Row row = pair.row();
  EXPECT_EQ(row.sent, 5U);
  EXPECT_EQ(row.lost, 1U);
  EXPECT_EQ(row.network.count, 4U);
  EXPECT_NEAR(static_cast<double>(row.network.p50), 1000, 16)
      << "of all samples, not the mean of two medians";
  EXPECT_NEAR(static_cast<double>(row.network.max), 9000, 9000.0 / 64);
  EXPECT_NEAR(static_cast<double>(row.jitter_ns.value_or(0)), 200, 200.0 / 16);
  EXPECT_EQ(pair.source().window_start_utc, kUtc);
  EXPECT_EQ(pair.source().endUtc(), kUtc + 2 * kWindow);
  EXPECT_EQ(pair.source().device, "eth0");
}

class PastSourceTest : public HistoryTest {
 protected:
  PastSourceTest() {
    grid_.spec.name = "rack";
    grid_.spec.protocol = Protocol::kUdp;
    grid_.sources = {ip("10.0.0.1")};
    grid_.destinations = {ip("10.0.0.2"), ip("10.0.0.3"), ip("10.0.0.4")};
  }
  std::optional<PastWindow> read(PastSource& past) {
    past.begin();
    EXPECT_TRUE(open()->at("rack", ip("10.0.0.1"), kUtc,
                           [&past](const PastContent& block) { past.add(block); }));
    return past.window();
  }
  States statesOf(const std::optional<PastWindow>& window) const {
    States states;
    pastStates(grid_, ip("10.0.0.1"), window, {}, kUtc, states);
    return states;
  }
  static std::vector<std::uint64_t> figuresOf(const std::optional<PastWindow>& window) {
    EXPECT_TRUE(window);
    if (!window) return {};
    return {window->figures.begin(), window->figures.end()};
  }

  ProbeGrid grid_;
};

TEST_F(PastSourceTest, HasTheStatesOfItsCounts) {
  wire::Report report = reportOf(kFirst);
  addRow(report, "10.0.0.2", 2, 0, {10, 20});
  addRow(report, "10.0.0.4", 1, 1, {30});
  addRow(report, "10.0.0.9", 1, 0, {40});  // not in the plan any more
  commit(report);
  PastSource past(grid_, {&Row::network, &Summary::p50});
  past.begin();
  EXPECT_FALSE(past.window());
  const auto window = read(past);
  EXPECT_EQ(statesOf(window), (States{PairState::kOk, std::nullopt, PairState::kLoss}));
  EXPECT_EQ(figuresOf(window), (std::vector<std::uint64_t>{10, kNoFigure, 30}));
  EXPECT_EQ(window->endUtc(), kUtc + kWindow);
  past.begin();
  past.add({kUtc, kWindow, 0, "no block"});
  EXPECT_FALSE(past.window());
  EXPECT_EQ(past.damaged(), 1U);
}

// The part `network` is read only where the counts leave open whether there is a network time.
TEST_F(PastSourceTest, CountsTellWhetherTimesWereMeasured) {
  wire::Report report = reportOf(kFirst);
  addRow(report, "10.0.0.2", 2, 0, {10, 20});
  addRow(report, "10.0.0.3", 2, 0, {});
  report.mutable_rows(1)->set_ack_lost(2);
  addRow(report, "10.0.0.4", 2, 0, {30});
  report.mutable_rows(2)->set_ack_lost(1);
  commit(report);
  PastSource past(grid_, {nullptr, nullptr, false});
  const States states{PairState::kOk, PairState::kAnomalous, PairState::kOk};
  EXPECT_EQ(statesOf(read(past)), states);
}

// As after an outage: some pairs of a window in one batch, some in another, some in both.
TEST_F(PastSourceTest, PartsOfAWindowAreOne) {
  wire::Report first = reportOf(kFirst);
  addRow(first, "10.0.0.2", 1, 0, {10});
  wire::Report second = reportOf(kFirst);
  addRow(second, "10.0.0.2", 1, 1, {20});
  addRow(second, "10.0.0.3", 1, 0, {30});
  commit(first);
  commit(second);
  PastSource past(grid_, {&Row::network, &Summary::p50});
  const auto window = read(past);
  EXPECT_EQ(test::countsAt(*window, 0).sent, 3U);
  EXPECT_EQ(test::countsAt(*window, 0).timed, 1U);
  EXPECT_EQ(figuresOf(window), (std::vector<std::uint64_t>{20, 30, kNoFigure}));
  EXPECT_EQ(statesOf(window), (States{PairState::kLoss, PairState::kOk, std::nullopt}));
  PastSource lowest(grid_, {&Row::network, &Summary::min});
  EXPECT_EQ(figuresOf(read(lowest))[0], 10U);
}

// A report may have a destination twice, also where one block ends and the next begins.
TEST_F(PastSourceTest, TwiceInAWindowIsAddedUp) {
  grid_.destinations.clear();
  wire::Report report = reportOf(kFirst);
  for (std::uint32_t i = 0; i < 2 * kWindowPairs - 1; ++i) {
    const IpAddress destination = IpAddress::fromV4(0x0a000002 + i);
    grid_.destinations.push_back(destination);
    addRow(report, destination.text().c_str(), 2, 0, {10});
    if (i + 1 == kWindowPairs) addRow(report, destination.text().c_str(), 1, 1, {20});
  }
  commit(report);
  PastSource past(grid_, {&Row::network, &Summary::p50});
  const auto window = read(past);
  ASSERT_TRUE(window);
  for (std::size_t i = 0; i < grid_.destinations.size(); ++i) {
    const bool twice = i + 1 == kWindowPairs;
    EXPECT_EQ(test::countsAt(*window, i).sent, twice ? 4U : 2U) << i;
    EXPECT_EQ(window->figures[i], twice ? 20U : 10U) << i;
  }
}

// A source with one destination less than the previous source, or with others, is not mixed up.
TEST_F(PastSourceTest, SourcesMayHaveOtherDestinations) {
  grid_.sources.push_back(ip("10.0.0.9"));
  wire::Report report = reportOf(kFirst);
  for (const char* destination : {"10.0.0.2", "10.0.0.3", "10.0.0.4"}) {
    addRow(report, destination, 1, 0, {10});
  }
  commit(report);
  wire::Report other = reportOf(kFirst);
  other.set_source(ip("10.0.0.9").wire());
  addRow(other, "10.0.0.4", 1, 0, {25});
  commit(other);
  PastSource past(grid_, {&Row::network, &Summary::max});
  EXPECT_EQ(figuresOf(read(past)), (std::vector<std::uint64_t>{10, 10, 10}));
  past.begin();
  EXPECT_TRUE(open()->at("rack", ip("10.0.0.9"), kUtc,
                         [&past](const PastContent& block) { past.add(block); }));
  EXPECT_EQ(figuresOf(past.window()), (std::vector<std::uint64_t>{kNoFigure, kNoFigure, 25}));
}

TEST_F(PastSourceTest, HasWhatIsAskedFor) {
  wire::Report report = reportOf(kFirst);
  addRow(report, "10.0.0.2", 3, 0, {10, 20, 40}).set_jitter_ns(15);
  commit(report);
  const auto figure = [&](const PastFigure& wanted) {
    PastSource past(grid_, wanted);
    return figuresOf(read(past))[0];
  };
  EXPECT_EQ(figure({&Row::network, &Summary::min}), 10U);
  EXPECT_EQ(figure({&Row::network, &Summary::mean}), 23U);
  EXPECT_EQ(figure({&Row::network, &Summary::p50}), 20U);
  EXPECT_EQ(figure({&Row::network, &Summary::p99}), 40U);
  EXPECT_EQ(figure({&Row::rtt, &Summary::p50}), kNoFigure);
  EXPECT_NEAR(static_cast<double>(figure({nullptr, nullptr, true})), 15, 2);
  EXPECT_EQ(figure({}), kNoFigure);
}

TEST_F(HistoryTest, TheReaderFollowsAFileThatIsReplaced) {
  commit(reportOf(kFirst));
  HistoryReader reader(place());
  const auto oldest = [&] {
    std::promise<Nanos> promise;
    EXPECT_TRUE(reader.ask([&](const Result<History*>& history) {
      if (!history) return promise.set_value(-1);
      const auto span = (*history)->span();
      promise.set_value(span && *span ? (*span)->oldest_utc : 0);
    }));
    return promise.get_future().get();
  };
  EXPECT_EQ(oldest(), kUtc);
  ledger_.reset();
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(history_.file().string() + suffix);
  }
  EXPECT_EQ(oldest(), -1);
  ledger_ = std::move(*Ledger::open({place(), 24 * kHour, 1ULL << 30}, kUtc));
  commit(reportOf(kFirst + 5));
  EXPECT_EQ(oldest(), kUtc + 5 * kWindow);
  reader.stop();
  EXPECT_FALSE(reader.ask([](const Result<History*>&) {}));
}

}  // namespace
}  // namespace pingloom::controller::history_test
