// Keeps the format of the ledger's file: tests/data/ledger has a file of each version, made by
// writeHistory() when that version was new. A failure here means that the format has changed:
// either undo the change, or give it a new kLedgerVersion, a file of its own, and a way for older
// files.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "controller/history/codec/compression.h"
#include "controller/history/event_reader.h"
#include "controller/history/history.h"
#include "controller/history/ledger.h"
#include "controller/history/ledger_roll_up.h"
#include "controller/history/past_pair.h"
#include "controller/history/past_severities.h"
#include "unit/controller/support.h"

namespace pingloom::controller::ledger_format_test {
namespace {

using test::ip;
using test::ledgerBatchOf;
using test::TemporaryDirectory;

constexpr Nanos kUtc = 1'795'230'720 * kSecond;
constexpr std::uint64_t kIndex = kUtc / (10 * kSecond);
constexpr Nanos kLater =
    kUtc + LedgerRollUp::kAge + 2 * kMinute;  // the first windows are rolled up
const std::string kFile = std::string(PINGLOOM_SOURCE_DIR) + "/tests/data/ledger/version-1.sqlite";

// Three pairs, which between them have every column: one of many samples, one without any, and one
// to an IPv6 address with anomalies.
wire::Report reportOf(const std::string& source, std::uint64_t window_index) {
  wire::Report report = test::reportOf(
      "mesh", source, window_index,
      {test::goodRow("10.0.0.2"), test::lossRow("10.0.0.3"), test::goodRow("fd00::4", 20'000)});
  Distribution many;
  for (std::uint64_t i = 0; i < 200; ++i) many.add(30'000 + 700 * (i % 40));
  wire::Row& row = *report.mutable_rows(0);
  row.set_sent(205);
  row.set_received(200);
  row.set_refused(2);
  row.set_unreachable(3);
  row.set_ack_lost(4);
  row.set_duplicate(5);
  row.set_late(6);
  row.clear_rtt();
  wire::encode(many, *row.mutable_rtt());
  for (std::uint32_t reason = 0; reason < kAnomalies; ++reason) {
    report.mutable_rows(2)->add_anomalous(reason + 1);
  }
  return report;
}

Status writeHistory(Ledger& ledger) {
  std::vector<LedgerBatch> batches;
  const auto later_index = static_cast<std::uint64_t>(kLater / (10 * kSecond));
  for (std::uint64_t i = 0; i < 12; ++i) {  // two minutes, and one window that stays as it is
    const std::uint64_t index = i == 11 ? later_index : kIndex + i;
    batches.push_back(ledgerBatchOf({7, i + 1}, reportOf("10.0.0.1", index)));
  }
  wire::Report path = reportOf("fd00::1", later_index);
  path.set_path(3);
  batches.push_back(ledgerBatchOf({7, 13}, path));
  if (auto status = ledger.commit(batches, kUtc); !status) return status;
  const std::vector<KeptEvent> events = {
      {kUtc, kUtc - kSecond, "mesh", ip("10.0.0.1"), ip("fd00::4"), PairState::kOk,
       PairState::kLoss, 1, Severity::kOk, Severity::kLossy},
      {kUtc + kSecond, 0, "mesh", std::nullopt, std::nullopt, PairState::kOk, PairState::kStale,
       99}};
  const std::vector<PresenceRecord> presence = {
      {kUtc - kHour, std::nullopt, PresenceRecord::Kind::kGone},
      {kUtc - kMinute, ip("10.0.0.1"), PresenceRecord::Kind::kCame}};
  const std::vector<VerdictRecord> verdicts = {
      {VerdictRecord::Kind::kIncident, "17", kUtc, kUtc + kMinute, "{}"}};
  const std::vector<SeverityRecord> severities = {
      {kUtc, "mesh", ip("10.0.0.1"), std::string("\x01\x04\x0a\x00\x00\x03", 6)},
      {kUtc + kMinute, "mesh", ip("fd00::1"), std::string("\x01", 1)}};
  if (auto status = ledger.record(events, presence, verdicts, severities); !status) return status;
  for (;;) {
    const auto done = ledger.rollUp(kLater);
    if (!done) return tl::unexpected(done.error());
    if (*done == 0) return {};
  }
}

// A block's sections before zstd, whose output depends on its version.
std::string unpacked(std::string_view content) {
  std::string out;
  Decompressor decompressor;
  while (!content.empty()) {
    ColumnReader in(content);
    out += std::to_string(in.number());
    std::array<std::size_t, kSections> sizes{};
    for (std::size_t& size : sizes) size = in.number();
    content.remove_prefix(content.size() - in.left());
    for (const std::size_t size : sizes) {
      std::string section;
      if (size > 0 &&
          !decompressor.decompress(content.substr(0, size), kMaxSectionBytes, section)) {
        ADD_FAILURE() << "a section is damaged";
      }
      out += "/" + section;
      content.remove_prefix(size);
    }
  }
  return out;
}

// Everything in the file that a reader depends on, as text.
std::vector<std::string> contentsOf(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  auto database = Database::open(file);
  EXPECT_TRUE(database) << database.error().text();
  lines.push_back(std::to_string(database->number("PRAGMA user_version").value_or(-1)));
  for (const char* sql :
       {"SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name",
        "SELECT host || ' ' || incarnation || ' ' || sequence || ' ' || updated_ns FROM agents",
        "SELECT probe || ' ' || hex(source) || ' ' || path || ' ' || start_ns || ' ' || window_ns "
        "|| ' ' || minute || ' ' || incarnation || ' ' || sequence FROM blocks ORDER BY id",
        "SELECT utc_ns || ' ' || window_ns || ' ' || probe || ' ' || quote(source) || ' ' || "
        "quote(destination) || ' ' || before || ' ' || after || ' ' || pairs || ' ' || "
        "severity_before || ' ' || severity_after FROM events",
        "SELECT utc_ns || ' ' || hex(address) || ' ' || kind FROM presence",
        "SELECT kind || ' ' || key || ' ' || opened_ns || ' ' || closed_ns || ' ' || document FROM "
        "verdicts",
        "SELECT since_ns || ' ' || probe || ' ' || hex(source) || ' ' || hex(content) FROM "
        "severities"}) {
    auto rows = database->prepare(sql);
    EXPECT_TRUE(rows) << rows.error().text();
    while (rows->step().value_or(false)) lines.emplace_back(rows->bytes(0));
  }
  auto blocks = database->prepare("SELECT content FROM blocks ORDER BY id");
  EXPECT_TRUE(blocks);
  while (blocks->step().value_or(false)) lines.push_back(unpacked(blocks->bytes(0)));
  return lines;
}

class LedgerFormatTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_ / "history.sqlite"; }
  std::unique_ptr<Ledger> open() {
    auto opened = Ledger::open({file(), 365 * 24 * kHour, 1ULL << 30}, kUtc);
    EXPECT_TRUE(opened) << opened.error().text();
    return opened ? std::move(*opened) : nullptr;
  }
  void useFileOfVersion1() { std::filesystem::copy_file(kFile, file()); }
  Row pastRow(const char* destination, Nanos from, Nanos until) {
    const auto history = History::open(file());
    EXPECT_TRUE(history) << history.error().text();
    PastPair pair(ip(destination));
    const PastRange range{"mesh", ip("10.0.0.1"), 0, from, until};
    EXPECT_TRUE((*history)->visit(range, [&](const PastContent& content) { pair.add(content); }));
    EXPECT_EQ(pair.damaged(), 0U);
    return pair.row();
  }

  TemporaryDirectory folder_;
};

TEST_F(LedgerFormatTest, ANewFileIsWrittenAsTheFileOfVersion1) {
  useFileOfVersion1();
  const auto kept = contentsOf(file());
  std::filesystem::remove(file());
  auto ledger = open();
  const auto status = writeHistory(*ledger);
  ASSERT_TRUE(status) << status.error().text();
  ASSERT_EQ(ledger->blocksDropped(), 0U);
  ledger.reset();
  const auto written = contentsOf(file());
  ASSERT_GT(written.size(), 20U);
  EXPECT_EQ(written, kept);
}

TEST_F(LedgerFormatTest, TheFileOfVersion1IsRead) {
  useFileOfVersion1();
  auto ledger = open();
  ASSERT_NE(ledger, nullptr);
  EXPECT_EQ(ledger->note(), "");
  EXPECT_EQ(ledger->marks(), (Ledger::Marks{{"host", {7, 13}}}));
  const auto latest = ledger->latest("mesh", ip("fd00::1"));
  ASSERT_EQ(latest.size(), 1U);
  EXPECT_EQ(latest[0].incarnation, 7U);
  wire::Report report;
  ASSERT_TRUE(report.ParseFromString(latest[0].report));
  EXPECT_EQ(report.path(), 3U);
  EXPECT_EQ(report.rows_size(), 3);

  const Row minutes = pastRow("10.0.0.2", kUtc, kUtc + kHour);
  EXPECT_EQ(minutes.sent, 11 * 205U);
  EXPECT_EQ(minutes.received, 11 * 200U);
  EXPECT_EQ(minutes.refused, 22U);
  EXPECT_EQ(minutes.unreachable, 33U);
  EXPECT_EQ(minutes.late, 66U);
  EXPECT_NEAR(static_cast<double>(minutes.rtt.p50), 43'500, 43'500 * 0.05);
  const Row window = pastRow("fd00::4", kLater - kMinute, kLater + kMinute);
  EXPECT_EQ(window.received, 10U);
  EXPECT_EQ(window.anomalous[1], 2U);
  EXPECT_NEAR(static_cast<double>(window.network.p99), 20'009, 20'009 * 0.02);
  EXPECT_EQ(pastRow("10.0.0.3", kUtc, kUtc + kHour).lost, 110U);

  const auto history = History::open(file());
  ASSERT_TRUE(history);
  EventQuery query;
  query.from_utc = kUtc - kHour;
  query.until_utc = kUtc + kHour;
  query.limit = 10;
  const auto found = readEvents((*history)->database(), query);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->events.size(), 2U);
  EXPECT_EQ(found->events[0].to, PairState::kLoss);
  EXPECT_EQ(found->events[1].pairs, 99U);
  const auto presence = readPresence((*history)->database(), kUtc - kHour, kUtc + kHour);
  ASSERT_TRUE(presence);
  EXPECT_EQ(presence->at(ip("10.0.0.1"), kUtc, kUtc - kSecond), PastPresence::Status::kThere);
  EXPECT_EQ(found->events[0].severity_to, Severity::kLossy);
  auto severities = PastSeverities::open((*history)->database());
  ASSERT_TRUE(severities);
  const auto timeline =
      severities->timeline("mesh", ip("10.0.0.1"), ip("10.0.0.3"), kUtc, kUtc + kHour);
  ASSERT_TRUE(timeline);
  EXPECT_EQ(*timeline, (PastSeverities::Timeline{{kUtc, Severity::kLossy}}));
}

TEST_F(LedgerFormatTest, AFileFromBeforeSeveritiesGetsThem) {
  useFileOfVersion1();
  {
    auto database = Database::open(file());
    ASSERT_TRUE(database);
    ASSERT_TRUE(
        database->execute("DROP TABLE severities; DROP TABLE verdicts; DROP TABLE path_changes; "
                          "ALTER TABLE events DROP COLUMN severity_before; "
                          "ALTER TABLE events DROP COLUMN severity_after;"));
  }
  auto ledger = open();
  ASSERT_NE(ledger, nullptr);
  const std::vector<KeptEvent> events = {{kUtc + kMinute, 0, "mesh", ip("10.0.0.1"), ip("10.0.0.2"),
                                          PairState::kOk, PairState::kOk, 1, Severity::kOk,
                                          Severity::kSlow}};
  const std::vector<SeverityRecord> severities = {
      {kUtc, "mesh", ip("10.0.0.1"), std::string("\x02", 1)}};
  ASSERT_TRUE(ledger->record(events, {}, {}, severities));
  const auto history = History::open(file());
  ASSERT_TRUE(history);
  EventQuery query;
  query.from_utc = kUtc;
  query.until_utc = kUtc + kHour;
  query.limit = 10;
  const auto found = readEvents((*history)->database(), query);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->events.size(), 3U);
  EXPECT_EQ(found->events[0].severity_to, Severity::kNone) << "nobody recorded it";
  EXPECT_EQ(found->events[2].severity_to, Severity::kSlow);
}

TEST_F(LedgerFormatTest, TheFileOfVersion1IsWrittenTo) {
  useFileOfVersion1();
  {
    auto ledger = open();
    const LedgerBatch repeated = ledgerBatchOf({7, 13}, reportOf("10.0.0.1", kIndex));
    const LedgerBatch fresh = ledgerBatchOf({7, 14}, reportOf("10.0.0.1", kIndex + 11));
    const std::vector<LedgerBatch> batches = {repeated, fresh};
    ASSERT_TRUE(ledger->commit(batches, kLater));
    EXPECT_EQ(ledger->windowsWritten(), 1U);
    while (ledger->rollUp(kLater).value_or(0) > 0) {
    }
    EXPECT_EQ(ledger->blocksDropped(), 0U);
  }
  EXPECT_EQ(open()->marks(), (Ledger::Marks{{"host", {7, 14}}}));
  EXPECT_EQ(pastRow("10.0.0.2", kUtc, kUtc + kHour).sent, 12 * 205U);
}

}  // namespace
}  // namespace pingloom::controller::ledger_format_test
