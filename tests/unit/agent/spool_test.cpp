#include "agent/spool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "../common/temporary_directory.h"
#include "common/file.h"

namespace pingloom::agent::spool_test {
namespace {

constexpr std::uint64_t kRoomy = 256ULL << 20;

std::string payloadOf(wire::BatchId id, std::size_t bytes = 40) {
  std::string text = std::to_string(id.incarnation) + "/" + std::to_string(id.sequence) + " ";
  text.resize(bytes, static_cast<char>('a' + id.sequence % 26));
  return text;
}

std::unique_ptr<Spool> openAt(const test::TemporaryDirectory& directory,
                              std::uint64_t max = kRoomy) {
  auto spool = Spool::open(directory.path() / "spool", max);
  EXPECT_TRUE(spool) << spool.error().text();
  return std::move(*spool);
}

std::vector<wire::BatchId> drain(Spool& spool, wire::BatchId after = {}) {
  std::vector<wire::BatchId> ids;
  while (auto batch = spool.next(after)) {
    EXPECT_TRUE(batch->payload.starts_with(payloadOf(batch->id, 8).substr(0, 4)));
    after = batch->id;
    ids.push_back(after);
  }
  return ids;
}

std::vector<std::filesystem::path> files(const test::TemporaryDirectory& directory) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path() / "spool")) {
    found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST(Spool, GivesBackInOrderAndForgetsWhatIsAcknowledged) {
  const test::TemporaryDirectory directory;
  const auto spool = openAt(directory);
  EXPECT_FALSE(spool->next({}));
  for (std::uint64_t i = 1; i <= 5; ++i) spool->append({7, i}, payloadOf({7, i}));
  EXPECT_EQ(drain(*spool), (std::vector<wire::BatchId>{{7, 1}, {7, 2}, {7, 3}, {7, 4}, {7, 5}}));
  EXPECT_EQ(spool->next({7, 2})->payload, payloadOf({7, 3}));
  spool->acknowledge({7, 3});
  EXPECT_EQ(drain(*spool), (std::vector<wire::BatchId>{{7, 4}, {7, 5}}));
  EXPECT_EQ(spool->status().batches, 2U);
  spool->acknowledge({7, 3});  // again: nothing happens
  EXPECT_EQ(spool->status().batches, 2U);
  spool->acknowledge({9, 0});
  EXPECT_EQ(spool->status().batches, 0U);
  EXPECT_EQ(spool->status().bytes, 0U);
  EXPECT_TRUE(files(directory).empty());
  spool->append({7, 6}, payloadOf({7, 6}));
  EXPECT_EQ(drain(*spool), (std::vector<wire::BatchId>{{7, 6}}));
}

TEST(Spool, AfterARestartOldIncarnationsComeFirst) {
  const test::TemporaryDirectory directory;
  {
    const auto spool = openAt(directory);
    for (std::uint64_t i = 8; i <= 9; ++i) spool->append({7, i}, payloadOf({7, i}));
  }
  const auto spool = openAt(directory);
  EXPECT_EQ(spool->status().batches, 2U);
  EXPECT_EQ(spool->newest(), (wire::BatchId{7, 9}));
  for (std::uint64_t i = 1; i <= 2; ++i) spool->append({8, i}, payloadOf({8, i}));
  EXPECT_EQ(drain(*spool), (std::vector<wire::BatchId>{{7, 8}, {7, 9}, {8, 1}, {8, 2}}));
  spool->acknowledge({8, 1});
  EXPECT_EQ(drain(*spool), (std::vector<wire::BatchId>{{8, 2}}));
}

TEST(Spool, SurvivesBeingKilledAtAnyByte) {
  const test::TemporaryDirectory directory;
  {
    const auto spool = openAt(directory);
    for (std::uint64_t i = 1; i <= 3; ++i) spool->append({7, i}, payloadOf({7, i}));
  }
  const auto segment = files(directory).at(0);
  const std::string whole = *readFile(segment, 1 << 20);
  const std::size_t record = kRecordHeader + 40;
  ASSERT_EQ(whole.size(), 3 * record);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const test::TemporaryDirectory copy;
    std::filesystem::create_directories(copy.path() / "spool");
    write(copy.path() / "spool" / segment.filename(), whole.substr(0, length));
    const auto spool = openAt(copy);
    const std::size_t complete = length / record;
    ASSERT_EQ(spool->status().batches, complete) << length;
    ASSERT_EQ(spool->status().truncated, length % record == 0 ? 0U : 1U) << length;
    ASSERT_EQ(spool->status().damaged, 0U) << length;
    ASSERT_EQ(drain(*spool).size(), complete) << length;
    spool->append({8, 1}, payloadOf({8, 1}));
    ASSERT_EQ(drain(*spool).back(), (wire::BatchId{8, 1})) << length;
  }
}

TEST(Spool, NoDamagedByteIsDeliveredAsAResult) {
  const test::TemporaryDirectory directory;
  {
    const auto spool = openAt(directory);
    for (std::uint64_t i = 1; i <= 3; ++i) spool->append({7, i}, payloadOf({7, i}));
  }
  const auto segment = files(directory).at(0);
  const std::string whole = *readFile(segment, 1 << 20);
  const std::size_t record = kRecordHeader + 40;
  for (std::size_t at = record; at < 2 * record; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    const test::TemporaryDirectory copy;
    std::filesystem::create_directories(copy.path() / "spool");
    write(copy.path() / "spool" / segment.filename(), damaged);
    const auto spool = openAt(copy);
    ASSERT_GT(spool->status().damaged + spool->status().truncated, 0U) << at;
    const auto ids = drain(*spool);
    ASSERT_FALSE(ids.empty());
    ASSERT_EQ(ids.front(), (wire::BatchId{7, 1}));
    // Unless the damage hides where it begins, the record behind is found.
    if (at >= record + 4) {
      ASSERT_EQ(ids, (std::vector<wire::BatchId>{{7, 1}, {7, 3}})) << at;
    }
  }
}

TEST(Spool, DamageWhileRunningSkipsTheBatchAndCounts) {
  const test::TemporaryDirectory directory;
  const auto spool = openAt(directory);
  for (std::uint64_t i = 1; i <= 3; ++i) spool->append({7, i}, payloadOf({7, i}));
  const auto segment = files(directory).at(0);
  std::string bytes = *readFile(segment, 1 << 20);
  bytes[kRecordHeader + 5] ^= 1;
  write(segment, bytes);
  EXPECT_EQ(drain(*spool), (std::vector<wire::BatchId>{{7, 2}, {7, 3}}));
  EXPECT_EQ(spool->status().damaged, 1U);
  EXPECT_EQ(spool->status().batches, 2U);
  std::filesystem::remove(segment);
  EXPECT_FALSE(spool->next({}));
  EXPECT_EQ(spool->status().damaged, 3U);
  EXPECT_EQ(spool->status().batches, 0U);
}

TEST(Spool, DropsTheOldestSegmentBeyondItsBound) {
  const test::TemporaryDirectory directory;
  constexpr std::uint64_t kBound = 4U << 20;
  constexpr std::size_t kBatch = 256U << 10;
  const auto spool = openAt(directory, kBound);
  for (std::uint64_t i = 1; i <= 40; ++i) {
    spool->append({7, i}, payloadOf({7, i}, kBatch));
    ASSERT_LE(spool->status().bytes, kBound);
  }
  const auto ids = drain(*spool);
  EXPECT_EQ(ids.size() + spool->status().dropped, 40U);
  EXPECT_GE(ids.size(), 12U) << "only whole segments of 1 MiB go";
  EXPECT_EQ(ids.back(), (wire::BatchId{7, 40}));
  for (std::size_t i = 1; i < ids.size(); ++i) EXPECT_EQ(ids[i].sequence, ids[i - 1].sequence + 1);
  std::uint64_t on_disk = 0;
  for (const auto& file : files(directory)) on_disk += std::filesystem::file_size(file);
  EXPECT_EQ(on_disk, spool->status().bytes);
}

TEST(Spool, TheBoundHoldsForWhatAnEarlierRunLeft) {
  const test::TemporaryDirectory directory;
  {
    const auto spool = openAt(directory);
    for (std::uint64_t i = 1; i <= 24; ++i) spool->append({7, i}, payloadOf({7, i}, 512U << 10));
  }
  const auto spool = openAt(directory, 4U << 20);
  EXPECT_LE(spool->status().bytes, 4U << 20);
  EXPECT_EQ(drain(*spool).back(), (wire::BatchId{7, 24}));
}

// Writes beyond the file size limit fail like those to a full disk do.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(Spool, AFullDiskLeavesBatchesInMemoryUpToABound) {
  const test::TemporaryDirectory directory;
  const auto spool = openAt(directory);
  spool->append({7, 1}, payloadOf({7, 1}, 1000));
  {
    const FileSizeLimit full(1500);
    spool->append({7, 2}, payloadOf({7, 2}, 1000));  // does not fit whole
    spool->append({7, 3}, payloadOf({7, 3}, 2000));
  }
  EXPECT_EQ(spool->status().write_errors, 2U);
  spool->append({7, 4}, payloadOf({7, 4}, 1000));
  EXPECT_EQ(spool->status().write_errors, 2U) << "the disk takes writes again";
  EXPECT_EQ(drain(*spool), (std::vector<wire::BatchId>{{7, 1}, {7, 2}, {7, 3}, {7, 4}}));
  EXPECT_EQ(spool->next({7, 1})->payload, payloadOf({7, 2}, 1000));

  const auto reopened = openAt(directory);
  EXPECT_EQ(reopened->status().truncated, 0U) << "the half-written record was cut off";
  EXPECT_EQ(drain(*reopened), (std::vector<wire::BatchId>{{7, 1}, {7, 4}}));

  const FileSizeLimit full(0);
  for (std::uint64_t i = 5; i <= 20; ++i) spool->append({7, i}, payloadOf({7, i}, 512U << 10));
  EXPECT_GT(spool->status().dropped, 0U);
  EXPECT_LE(spool->status().bytes, Spool::kMaxHeldBytes + 4096);
  EXPECT_EQ(drain(*spool).back(), (wire::BatchId{7, 20}));
  spool->acknowledge({7, 19});
  EXPECT_EQ(drain(*spool), (std::vector<wire::BatchId>{{7, 20}}));
}

TEST(Spool, ForeignFilesAndForeignOrderDoNoHarm) {
  const test::TemporaryDirectory directory;
  {
    const auto spool = openAt(directory);
    spool->append({7, 5}, payloadOf({7, 5}));
  }
  write(directory.path() / "spool" / "notes.txt", "mine");
  write(directory.path() / "spool" / "00000000000000ff.spool",
        recordHeader({7, 2}, "older") + "older");
  std::string endless = recordHeader({9, 1}, "x");
  endless.replace(0, 4, "\xff\xff\xff\x7f");
  write(directory.path() / "spool" / "0000000000000100.spool", endless + "x");
  const auto spool = openAt(directory);
  EXPECT_EQ(drain(*spool), (std::vector<wire::BatchId>{{7, 5}}));
  EXPECT_EQ(spool->status().damaged, 1U);
  EXPECT_EQ(spool->status().truncated, 1U);
  spool->append({10, 1}, payloadOf({10, 1}));
  EXPECT_EQ(drain(*spool), (std::vector<wire::BatchId>{{7, 5}, {10, 1}}));
  EXPECT_TRUE(std::filesystem::exists(directory.path() / "spool" / "notes.txt"));
}

TEST(Spool, NeedsADirectoryItCanUse) {
  const test::TemporaryDirectory directory;
  write(directory.path() / "file", "");
  EXPECT_FALSE(Spool::open(directory.path() / "file" / "spool", kRoomy));
}

}  // namespace
}  // namespace pingloom::agent::spool_test
