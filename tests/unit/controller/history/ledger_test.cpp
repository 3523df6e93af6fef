#include "controller/history/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "controller/history/ledger_schema.h"
#include "controller/history/ledger_writer.h"
#include "unit/controller/history/test_history.h"
#include "unit/controller/support.h"

namespace pingloom::controller::ledger_test {
namespace {

using test::eventually;
using test::ip;

constexpr Nanos kUtc = 1'795'230'720 * kSecond;
constexpr Nanos kWindow = 10 * kSecond;

// A batch of one window; its block takes about `bytes` and does not compress: counts are random.
LedgerBatch batchOf(const std::string& host, wire::BatchId id, std::uint64_t window_index,
                    std::size_t bytes = 100) {
  wire::Report made = test::reportOf("udp", "10.0.0.1", window_index, {});
  std::uint64_t state = id.sequence * 77 + window_index;
  const auto random = [&state] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>(state >> 32);
  };
  for (std::uint32_t i = 0; i <= bytes / 8; ++i) {
    wire::Row& row = *made.add_rows();
    row.set_destination(IpAddress::fromV4(0x0a010000 + i).wire());
    row.set_late(random());
    row.set_duplicate(random());
  }
  const auto report = std::make_shared<std::string>(made.SerializeAsString());
  LedgerBatch batch{host, id, {}, report, bytes, 1};
  batch.windows.push_back({"udp", ip("10.0.0.1"), static_cast<Nanos>(window_index) * kWindow,
                           kWindow, window_index, 0, *report});
  return batch;
}

class LedgerTest : public testing::Test {
 protected:
  LedgerOptions options() const { return {history_.place(), 24 * kHour, 1ULL << 30}; }
  std::unique_ptr<Ledger> open() {
    auto opened = Ledger::open(options(), kUtc);
    EXPECT_TRUE(opened) << opened.error().text();
    return opened ? std::move(*opened) : nullptr;
  }
  std::int64_t count(const char* sql) {
    auto database = Database::open(history_.place());
    EXPECT_TRUE(database);
    return database->number(sql).value_or(-1);
  }
  std::size_t damagedFiles() const {
    std::size_t found = 0;
    for (const auto& entry : std::filesystem::directory_iterator(history_.folder())) {
      found += entry.path().native().find("history.sqlite.damaged-") != std::string::npos &&
                       entry.path().native().find("-wal") == std::string::npos &&
                       entry.path().native().find("-shm") == std::string::npos
                   ? 1
                   : 0;
    }
    return found;
  }

  test::TestHistory history_;
};

constexpr std::uint64_t kIndex = kUtc / kWindow;

TEST_F(LedgerTest, CountsABatchOnce) {
  {
    auto ledger = open();
    const std::vector<LedgerBatch> first = {
        batchOf("a", {1, 1}, kIndex), batchOf("a", {1, 2}, kIndex), batchOf("b", {1, 1}, kIndex)};
    ASSERT_TRUE(ledger->commit(first, kUtc));
    ASSERT_TRUE(ledger->commit(first, kUtc));
    EXPECT_EQ(ledger->windowsWritten(), 3U);
  }
  auto ledger = open();
  EXPECT_EQ(ledger->marks().at("a"), (wire::BatchId{1, 2}));
  const std::vector<LedgerBatch> again = {batchOf("a", {1, 2}, kIndex),
                                          batchOf("a", {2, 1}, kIndex)};
  ASSERT_TRUE(ledger->commit(again, kUtc));
  ledger.reset();
  EXPECT_EQ(count("SELECT count(*) FROM blocks"), 4);
  EXPECT_EQ(count("SELECT incarnation * 100 + sequence FROM agents WHERE host = 'a'"), 201);
}

TEST_F(LedgerTest, GivesBackTheNewestWindowOfASource) {
  auto ledger = open();
  const std::vector<LedgerBatch> batches = {batchOf("a", {1, 1}, kIndex - 1),
                                            batchOf("a", {1, 2}, kIndex),
                                            batchOf("a", {1, 3}, kIndex - 2)};
  EXPECT_EQ(ledger->newestEnd(), 0);
  ASSERT_TRUE(ledger->commit(batches, kUtc));
  EXPECT_EQ(ledger->newestEnd(), static_cast<Nanos>(kIndex + 1) * kWindow);
  const auto latest = ledger->latest("udp", ip("10.0.0.1"));
  ASSERT_EQ(latest.size(), 1U);
  wire::Report newest;
  ASSERT_TRUE(newest.ParseFromString(latest[0].report));
  EXPECT_EQ(newest.window_index(), kIndex);
  wire::Report sent;
  ASSERT_TRUE(sent.ParseFromString(std::string(batches[1].windows[0].report)));
  EXPECT_EQ(newest.rows(0).late(), sent.rows(0).late());
  EXPECT_EQ(latest[0].incarnation, 1U);
  EXPECT_TRUE(ledger->latest("tcp", ip("10.0.0.1")).empty());
  EXPECT_TRUE(ledger->latest("udp", ip("10.0.0.2")).empty());
}

// A process that is killed while it commits leaves marks and windows that belong together.
TEST_F(LedgerTest, AKillInTheMiddleLeavesNothingHalf) {
  for (int round = 0; round < 5; ++round) {
    int ends[2] = {};
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto ledger = Ledger::open(options(), kUtc);
      std::uint64_t sequence =
          (*ledger)->marks().contains("a") ? (*ledger)->marks().at("a").sequence : 0;
      for (;;) {
        std::vector<LedgerBatch> batches;
        for (int i = 0; i < 20; ++i)
          batches.push_back(batchOf("a", {1, ++sequence}, kIndex, 2'000));
        if (!(*ledger)->commit(batches, kUtc)) _exit(1);
        (void)!::write(ends[1], &sequence, sizeof sequence);
      }
    }
    std::uint64_t reported = 0;
    for (int i = 0; i < 5 + round; ++i) {
      ASSERT_EQ(::read(ends[0], &reported, sizeof reported), ssize_t{sizeof reported});
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    ::close(ends[0]);
    ::close(ends[1]);
    auto ledger = open();
    const std::uint64_t mark = ledger->marks().at("a").sequence;
    EXPECT_GE(mark, reported) << "what was said to be committed is there";
    ledger.reset();
    EXPECT_EQ(count("SELECT max(sequence) FROM blocks"), static_cast<std::int64_t>(mark));
    EXPECT_EQ(count("SELECT count(*) FROM blocks"), static_cast<std::int64_t>(mark));
  }
}

TEST_F(LedgerTest, AFileThatIsNoDatabaseIsMovedAside) {
  std::ofstream(history_.file()) << std::string(50'000, 'x');
  auto ledger = open();
  ASSERT_NE(ledger, nullptr);
  EXPECT_THAT(ledger->note(), testing::HasSubstr("damaged"));
  EXPECT_EQ(damagedFiles(), 1U);
  const std::vector<LedgerBatch> batches = {batchOf("a", {1, 1}, kIndex)};
  EXPECT_TRUE(ledger->commit(batches, kUtc));
  EXPECT_EQ(ledger->latest("udp", ip("10.0.0.1")).size(), 1U);
}

TEST_F(LedgerTest, DamageThatIsFoundLaterKeepsTheMarks) {
  {
    auto ledger = open();
    std::vector<LedgerBatch> batches;
    for (std::uint64_t i = 1; i <= 200; ++i)
      batches.push_back(batchOf("a", {1, i}, kIndex - i, 3'000));
    ASSERT_TRUE(ledger->commit(batches, kUtc));
  }
  auto ledger = open();
  {
    std::fstream file(history_.file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5 * 4096);
    file << std::string(100 * 4096, '\xee');
  }
  // Whether reading or writing meets the damage first: both have to get over it.
  (void)ledger->latest("udp", ip("10.0.0.1"));
  const std::vector<LedgerBatch> next = {batchOf("a", {1, 150}, kIndex),
                                         batchOf("a", {1, 201}, kIndex)};
  ASSERT_TRUE(ledger->commit(next, kUtc));
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(ledger->trim(64, kUtc + 48 * kHour));
  EXPECT_EQ(damagedFiles(), 1U);
  EXPECT_EQ(ledger->marks().at("a"), (wire::BatchId{1, 201}))
      << "150 was counted before the damage";
  ledger.reset();
  EXPECT_EQ(count("SELECT sequence FROM agents WHERE host = 'a'"), 201);
}

TEST_F(LedgerTest, RefusesAFileOfAnotherVersion) {
  open().reset();
  for (const int version : {kLedgerVersion + 1, kLedgerVersion + 8}) {
    const std::string change = "PRAGMA user_version = " + std::to_string(version);
    EXPECT_TRUE(Database::open(history_.place())->execute(change.c_str()));
    const auto opened = Ledger::open(options(), kUtc);
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().text(),
                testing::AllOf(testing::HasSubstr("format " + std::to_string(version)),
                               testing::HasSubstr("run the version that wrote it"),
                               testing::HasSubstr("move the file")));
    EXPECT_EQ(damagedFiles(), 0U) << "it is not damaged";
  }
}

TEST_F(LedgerTest, RefusesAFileThatIsOlderThanItsVersion) {
  // Before the first release, version 1 stood for a table `windows` of whole reports.
  ASSERT_TRUE(
      Database::open(history_.place())
          ->execute("CREATE TABLE windows(probe TEXT, report BLOB); PRAGMA user_version = 1"));
  const auto opened = Ledger::open(options(), kUtc);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().text(),
              testing::AllOf(testing::HasSubstr("says that it has format 1"),
                             testing::HasSubstr("before the first release"),
                             testing::HasSubstr("move the file with its -wal and -shm away")));
  EXPECT_EQ(damagedFiles(), 0U) << "it is not damaged";
}

TEST_F(LedgerTest, ForgetsWhatIsOlderThanTheRetention) {
  auto ledger = open();
  std::vector<LedgerBatch> batches;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::uint64_t age = (i % 2) * 9'000;  // windows of now, and of 25 hours ago
    batches.push_back(batchOf("a", {1, i + 1}, kIndex - age));
  }
  ASSERT_TRUE(ledger->commit(batches, kUtc));
  EXPECT_TRUE(*ledger->trim(40, kUtc)) << "a small step";
  EXPECT_FALSE(*ledger->trim(40, kUtc));
  EXPECT_FALSE(*ledger->trim(40, kUtc));
  ledger.reset();
  EXPECT_EQ(count("SELECT count(*) FROM blocks"), 50);
  EXPECT_EQ(count("SELECT count(*) FROM blocks WHERE sequence % 2 = 0"), 0);
}

TEST_F(LedgerTest, StaysBelowTheLargestSize) {
  auto limited = options();
  limited.max_bytes = 1U << 20;
  auto ledger = std::move(*Ledger::open(limited, kUtc));
  for (std::uint64_t i = 1; i <= 400; ++i) {
    const std::vector<LedgerBatch> one = {batchOf("a", {1, i}, kIndex + i, 10'000)};
    ASSERT_TRUE(ledger->commit(one, kUtc));
    ASSERT_TRUE(ledger->trim(3, kUtc));
  }
  ledger.reset();
  EXPECT_LE(count("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"),
            (1 << 20) + 200'000);
  EXPECT_GE(count("SELECT count(*) FROM blocks"), 50);
  EXPECT_EQ(count("SELECT max(sequence) FROM blocks"), 400) << "the newest stay";
  EXPECT_EQ(count("SELECT sequence FROM agents"), 400);
}

// A disk that takes no more, by a limit on the size of files this process writes.
class FullDisk {
 public:
  FullDisk() {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    set(4096);
  }
  ~FullDisk() { set(before_.rlim_cur); }
  void set(rlim_t bytes) {
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }

 private:
  rlimit before_{};
};

TEST_F(LedgerTest, AFullDiskIsAnErrorAndNothingIsHalfWritten) {
  auto ledger = open();
  const std::vector<LedgerBatch> batches = {batchOf("a", {1, 1}, kIndex, 500'000)};
  {
    const FullDisk full;
    EXPECT_FALSE(ledger->commit(batches, kUtc));
    EXPECT_FALSE(ledger->commit(batches, kUtc));
    EXPECT_FALSE(ledger->marks().contains("a") && ledger->marks().at("a") != wire::BatchId{});
  }
  ASSERT_TRUE(ledger->commit(batches, kUtc));
  ledger.reset();
  EXPECT_EQ(count("SELECT count(*) FROM blocks"), 1);
  EXPECT_EQ(damagedFiles(), 0U) << "full is not damaged";
}

TEST_F(LedgerTest, TheWriterCommitsInOrderAndReportsIt) {
  LedgerWriter writer(open());
  for (std::uint64_t i = 1; i <= 50; ++i) ASSERT_TRUE(writer.submit(batchOf("a", {1, i}, kIndex)));
  std::vector<std::uint64_t> seen;
  ASSERT_TRUE(eventually([&] {
    for (const auto& outcome : writer.takeOutcomes()) {
      EXPECT_TRUE(outcome.committed);
      EXPECT_EQ(outcome.rows, 1U);
      seen.push_back(outcome.id.sequence);
    }
    return seen.size() == 50;
  }));
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_TRUE(writer.status().writing);
  EXPECT_EQ(writer.status().windows_written, 50U);
}

TEST_F(LedgerTest, AfterAFailureTheWriterTakesNothingOutOfOrder) {
  auto ledger = open();
  LedgerWriter writer(std::move(ledger));
  std::vector<LedgerWriter::Outcome> outcomes;
  {
    const FullDisk full;
    ASSERT_TRUE(writer.submit(batchOf("a", {1, 1}, kIndex, 500'000)));
    ASSERT_TRUE(eventually([&] { return !writer.ready(); }));
    EXPECT_FALSE(writer.status().writing);
    EXPECT_FALSE(writer.submit(batchOf("a", {1, 2}, kIndex))) << "1 has not come again yet";
    EXPECT_FALSE(writer.ready());
    outcomes = writer.takeOutcomes();
  }
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_FALSE(outcomes[0].committed);
  EXPECT_FALSE(writer.status().last_error.empty());
  ASSERT_TRUE(eventually([&] { return writer.ready(); }));
  ASSERT_TRUE(writer.submit(batchOf("a", {1, 1}, kIndex, 500'000)));
  ASSERT_TRUE(eventually([&] {
    outcomes = writer.takeOutcomes();
    return !outcomes.empty();
  }));
  EXPECT_TRUE(outcomes[0].committed);
  EXPECT_TRUE(writer.status().writing);
  EXPECT_TRUE(writer.status().last_error.empty());
}

TEST_F(LedgerTest, TheWriterCommitsWhatWaitsBeforeItEnds) {
  {
    LedgerWriter writer(open());
    for (std::uint64_t i = 1; i <= 30; ++i)
      ASSERT_TRUE(writer.submit(batchOf("a", {1, i}, kIndex)));
  }
  EXPECT_EQ(count("SELECT sequence FROM agents"), 30);
}

}  // namespace
}  // namespace pingloom::controller::ledger_test
