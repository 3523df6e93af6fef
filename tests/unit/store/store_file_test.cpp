#include "store/store_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "../common/temporary_directory.h"
#include "store/store_view.h"
#include "store_support.h"

namespace pingloom::store::store_file_test {
namespace {

using test::bytesOf;
using test::keyedSpec;
using testing::HasSubstr;

const std::vector<TableSpec> kTables = {keyedSpec("latest", 1, 1000, 24)};

class StoreFileTest : public testing::Test {
 protected:
  std::unique_ptr<StoreFile> open(const std::vector<TableSpec>& tables = kTables) {
    auto opened = StoreFile::open(path, tables, 5 * kSecond);
    error = opened ? "" : opened.error().text();
    return opened ? std::move(*opened) : nullptr;
  }
  // Stores a value through the region, as a writer does.
  static void put(StoreFile& file, std::string_view key, std::string_view value) {
    const Table& table = file.head().tables[0];
    test::Bytes content(table.bytes);
    const auto writer = *KeyedWriter::create(table, content);
    writer->place(bytesOf(key), bytesOf(value), 1);
    test::flush(*writer, file.region().subspan(table.offset - kRegionOffset, table.bytes));
  }
  std::string get(std::string_view key) const {
    const auto view = StoreView::open(path);
    if (!view) return view.error().text();
    const auto value = view->get(*view->findTable("latest"), bytesOf(key));
    return value ? reinterpret_cast<const char*>(value->memory.data()) : "absent";
  }
  void write(std::string_view bytes) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  std::string read() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  pingloom::test::TemporaryDirectory directory;
  std::filesystem::path path = directory / "a" / "one.store";
  std::string error;
};

TEST_F(StoreFileTest, IsMadeForItsUserOnlyAndKeptOverRestarts) {
  auto file = open();
  ASSERT_NE(file, nullptr) << error;
  EXPECT_FALSE(file->wasThere());
  struct stat about {};
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0600U);
  EXPECT_EQ(static_cast<std::uint64_t>(about.st_size), file->head().bytes);
  put(*file, "k", "v");
  const Head before = file->head();
  file->nextEpoch();
  file.reset();
  EXPECT_EQ(get("k"), "v");  // also while no collector keeps it

  file = open();
  ASSERT_NE(file, nullptr) << error;
  EXPECT_TRUE(file->wasThere());
  EXPECT_EQ(file->head().store, before.store);
  EXPECT_EQ(file->head().epoch, before.epoch + 1);
  EXPECT_EQ(file->head().tables, before.tables);
  EXPECT_EQ(get("k"), "v");
}

TEST_F(StoreFileTest, ReadersSeeStateAndEpoch) {
  auto file = open();
  const auto view = StoreView::open(path);
  ASSERT_TRUE(view) << view.error().text();
  EXPECT_EQ(view->head(), file->head());
  file->nextEpoch();
  EXPECT_EQ(view->readHead()->epoch, 1U);
  EXPECT_EQ(view->readHead()->state, StoreState::kServing);
  file.reset();
  EXPECT_EQ(view->readHead()->state, StoreState::kClosed);
  EXPECT_EQ(view->findTable("other"), nullptr);
  EXPECT_EQ(view->usedSlots(view->head().tables[0]), 0U);
}

TEST_F(StoreFileTest, TheStatusOfTheWriterIsReadOnceThereIsOne) {
  const auto file = open();
  const auto view = StoreView::open(path);
  EXPECT_THAT(view->status().error().text(), HasSubstr("no writer"));
  WriterStatus status;
  status.incarnation = 4;
  status.beat = 3;
  status.utc = 2;
  status.accepted = {1, 2, 3, 4};
  status.lost = 5;
  status.refused = 6;
  status.skipped = 7;
  status.evicted = 8;
  status.dropped = 9;
  status.increments = 10;
  const StatusBlock block = encodeStatus(status);
  std::copy(block.begin(), block.end(), file->region().begin());
  EXPECT_EQ(view->status().value(), status);
  file->region()[20] ^= 1;
  EXPECT_FALSE(view->status());
}

TEST_F(StoreFileTest, OtherTablesThanConfiguredAreRefused) {
  open();
  const auto refused = [&](const std::vector<TableSpec>& tables) {
    EXPECT_EQ(open(tables), nullptr);
    return error;
  };
  EXPECT_THAT(refused({keyedSpec("latest", 1, 2000, 24)}), HasSubstr("move the file away"));
  EXPECT_THAT(refused({keyedSpec("other", 1, 1000, 24)}), HasSubstr("has table latest there"));
  EXPECT_THAT(refused({keyedSpec("latest", 2, 1000, 24)}), HasSubstr("table latest"));
  EXPECT_THAT(refused({kTables[0], keyedSpec("b", 2, 10, 8)}), HasSubstr("has 1, not 2"));
  EXPECT_NE(open(), nullptr) << error;
}

TEST_F(StoreFileTest, OnlyOneProcessKeepsAStore) {
  const auto file = open();
  EXPECT_EQ(open(), nullptr);
  EXPECT_THAT(error, HasSubstr("another process"));
}

TEST_F(StoreFileTest, FilesThatAreNoStoreAreRefusedAndStay) {
  open();
  write("hello");
  EXPECT_EQ(open(), nullptr);
  EXPECT_THAT(error, HasSubstr("too short"));
  write(std::string(20'000, 'x'));
  EXPECT_EQ(open(), nullptr);
  EXPECT_THAT(error, HasSubstr("is no store"));
  EXPECT_THAT(get("k"), HasSubstr("is no store"));
  EXPECT_EQ(read().size(), 20'000U);
  std::filesystem::remove(path);
  EXPECT_THAT(get("k"), HasSubstr("cannot be opened"));
  std::filesystem::create_symlink("elsewhere", path);
  EXPECT_EQ(open(), nullptr);
}

TEST_F(StoreFileTest, ACutFileIsRefused) {
  open();
  std::filesystem::resize_file(path, 12'288);
  EXPECT_EQ(open(), nullptr);
  EXPECT_THAT(error, HasSubstr("has 12288 bytes"));
  EXPECT_THAT(get("k"), HasSubstr("its head says"));
  std::filesystem::resize_file(path, 100);
  EXPECT_THAT(get("k"), HasSubstr("too short"));
}

TEST_F(StoreFileTest, AnInterruptedMakingIsDoneAgain) {
  open();
  write(std::string(12'288, '\0'));
  const auto file = open();
  ASSERT_NE(file, nullptr) << error;
  EXPECT_FALSE(file->wasThere());
}

}  // namespace
}  // namespace pingloom::store::store_file_test
