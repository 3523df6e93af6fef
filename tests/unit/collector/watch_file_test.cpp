#include "collector/watch/watch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/file.h"
#include "unit/common/temporary_directory.h"

namespace pingloom::collector::watch_file_test {
namespace {

using Records = std::vector<std::pair<ShelfKey, Shelved>>;

struct WatchFileTest : testing::Test {
  void SetUp() override {
    auto file = WatchFileWriter::begin(path);
    ASSERT_TRUE(file);
    for (std::size_t i = 0; i < 3; ++i) {
      auto memory = std::make_shared<std::string>(100 * (i + 1), 'm');
      ASSERT_TRUE(
          file->add({"host-" + std::to_string(i), "queue", i}, {memory, 7, i, kSecond, 40 + i}));
    }
    EXPECT_FALSE(readFile(path, 10)) << "before commit()";
    ASSERT_TRUE(file->commit());
    bytes = *readFile(path, 10'000);
  }
  // Reads a file with these bytes.
  Result<bool> read(const std::string& content) {
    records.clear();
    EXPECT_TRUE(writeFileAtomic(path, content));
    return readWatchFile(path, [this](ShelfKey key, Shelved shelved) {
      records.emplace_back(std::move(key), std::move(shelved));
    });
  }

  test::TemporaryDirectory directory;
  std::filesystem::path path = directory.path() / "analytics";
  std::string bytes;
  Records records;
};

TEST_F(WatchFileTest, HasWhatWasAdded) {
  const auto whole = read(bytes);
  ASSERT_TRUE(whole);
  EXPECT_TRUE(*whole);
  ASSERT_EQ(records.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& [key, shelved] = records[i];
    EXPECT_EQ(key, (ShelfKey{"host-" + std::to_string(i), "queue", i}));
    EXPECT_EQ(*shelved.memory, std::string(100 * (i + 1), 'm'));
    EXPECT_EQ(shelved.features, 7U);
    EXPECT_EQ(shelved.history_features, i);
    EXPECT_EQ(shelved.since, kSecond);
    EXPECT_EQ(shelved.owner, 40 + i);
  }
}

TEST_F(WatchFileTest, OneOfTheVersionBeforeIsRead) {
  ASSERT_TRUE(bytes.starts_with("pingloom analytics 3\n"));
  std::string before = bytes;
  before[before.find('3')] = '2';
  const auto whole = read(before);
  ASSERT_TRUE(whole);
  EXPECT_TRUE(*whole);
  EXPECT_EQ(records.size(), 3U);
  before[before.find('2')] = '1';
  EXPECT_FALSE(read(before));
}

TEST_F(WatchFileTest, ADamagedRecordIsLeftOut) {
  std::string damaged = bytes;
  damaged[damaged.find("host-1")] = 'g';
  const auto whole = read(damaged);
  ASSERT_TRUE(whole);
  EXPECT_FALSE(*whole);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(std::get<0>(records[1].first), "host-2");
}

TEST_F(WatchFileTest, EachCutIsNoticed) {
  const std::size_t first = bytes.find("host-0") - 16;  // where the first record's length is
  const std::size_t second = bytes.find("host-1") - 16;
  const std::size_t third = bytes.find("host-2") - 16;
  for (std::size_t size = first + 1; size < bytes.size(); ++size) {
    const auto whole = read(bytes.substr(0, size));
    ASSERT_TRUE(whole);
    EXPECT_EQ(*whole, size == second || size == third) << size;
    EXPECT_EQ(records.size(), size < second ? 0U : size < third ? 1U : 2U) << size;
  }
}

TEST_F(WatchFileTest, ALengthBeyondTheBoundEndsIt) {
  std::string damaged = bytes;
  damaged[bytes.find("host-1") - 16 + 3] = '\x7f';
  const auto whole = read(damaged);
  ASSERT_TRUE(whole);
  EXPECT_FALSE(*whole);
  EXPECT_EQ(records.size(), 1U);
}

TEST_F(WatchFileTest, OtherFilesAreRefused) {
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("pingloom analytics 0\n"));
  EXPECT_FALSE(read(std::string(100, '\0')));
  EXPECT_FALSE(readWatchFile(directory.path() / "none", [](const ShelfKey&, const Shelved&) {}));
}

}  // namespace
}  // namespace pingloom::collector::watch_file_test
