// Real files, a virtual clock: a change is there as soon as the system call has returned.
#include "common/file_watcher.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cstdlib>
#include <fstream>

#include "common/file.h"

namespace pingloom::file_watcher_test {
namespace {

namespace fs = std::filesystem;

class FileWatcherTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "pingloom-watcher-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    file_ = root_ / "conf" / "pinglist.yaml";
    fs::create_directory(root_ / "conf");
    write(file_, "one");
  }
  void TearDown() override { fs::remove_all(root_); }

  static void write(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::trunc) << text;
  }
  static void replace(const fs::path& file, const std::string& text) {
    write(file.string() + ".new", text);
    fs::rename(file.string() + ".new", file);
  }
  void watch(const fs::path& file) {
    auto made = FileWatcher::create(file);
    ASSERT_TRUE(made) << made.error().text();
    watcher_ = std::move(*made);
    EXPECT_FALSE(readable()) << "nothing has happened yet";
  }
  bool readable(int timeout_ms = 0) const {
    pollfd entry{watcher_->descriptor(), POLLIN, 0};
    return poll(&entry, 1, timeout_ms) == 1;
  }
  // What the next 60 ms make of it.
  bool settles() {
    const bool early = watcher_->changed(now_);
    EXPECT_FALSE(early) << "before it could come to rest";
    now_ += 60 * kMillisecond;
    const bool seen = watcher_->changed(now_);
    EXPECT_FALSE(watcher_->changed(now_)) << "one change is reported once";
    now_ += kSecond;
    return seen;
  }

  fs::path root_;
  fs::path file_;
  std::unique_ptr<FileWatcher> watcher_;
  Nanos now_ = 100 * kSecond;
};

TEST_F(FileWatcherTest, SeesARenameOverTheFile) {
  watch(file_);
  EXPECT_FALSE(settles());
  replace(file_, "two");
  EXPECT_TRUE(readable());
  EXPECT_TRUE(settles());
  replace(file_, "three");
  EXPECT_TRUE(settles());
}

TEST_F(FileWatcherTest, SeesAWriteInPlace) {
  watch(file_);
  write(file_, "two");
  EXPECT_TRUE(readable());
  EXPECT_TRUE(settles());
  write(file_, "two");
  EXPECT_TRUE(settles()) << "same size, perhaps the same time stamp";
}

TEST_F(FileWatcherTest, IgnoresItsNeighbours) {
  watch(file_);
  write(root_ / "conf" / "other.yaml", "x");
  fs::remove(root_ / "conf" / "other.yaml");
  EXPECT_FALSE(settles());
}

TEST_F(FileWatcherTest, SeesTheFileGoAndComeBack) {
  watch(file_);
  fs::remove(file_);
  EXPECT_TRUE(settles()) << "the reader has to say that it is gone";
  EXPECT_FALSE(settles());
  write(file_, "two");
  EXPECT_TRUE(settles());
}

TEST_F(FileWatcherTest, DeletedAndWrittenAgainAtOnceIsOneChange) {
  watch(file_);
  fs::remove(file_);
  EXPECT_FALSE(watcher_->changed(now_));
  now_ += 10 * kMillisecond;
  write(file_, "two");
  EXPECT_TRUE(settles());
}

TEST_F(FileWatcherTest, StartsWithoutTheFile) {
  fs::remove(file_);
  watch(file_);
  write(file_, "one");
  EXPECT_TRUE(settles());
}

TEST_F(FileWatcherTest, SeesTheDirectoryGoAndComeBack) {
  watch(file_);
  fs::remove_all(root_ / "conf");
  EXPECT_TRUE(settles());
  fs::create_directory(root_ / "conf");
  EXPECT_FALSE(settles()) << "still no file";
  write(file_, "two");
  EXPECT_TRUE(settles());
  fs::create_directory(root_ / "next");
  write(root_ / "next" / "pinglist.yaml", "three");
  fs::rename(root_ / "conf", root_ / "old");
  fs::rename(root_ / "next", root_ / "conf");
  EXPECT_TRUE(settles());
  write(root_ / "old" / "pinglist.yaml", "x");
  EXPECT_FALSE(settles()) << "that file is not ours any more";
  write(file_, "four");
  EXPECT_TRUE(settles());
}

// pinglist.yaml -> ..data/pinglist.yaml, ..data -> ..1, and ..data is swapped.
TEST_F(FileWatcherTest, SeesASymbolicLinkSwapped) {
  const fs::path conf = root_ / "conf";
  fs::remove(file_);
  for (const char* version : {"..1", "..2"}) {
    fs::create_directory(conf / version);
    write(conf / version / "pinglist.yaml", version);
  }
  fs::create_directory_symlink("..1", conf / "..data");
  fs::create_symlink("..data/pinglist.yaml", file_);
  watch(file_);
  fs::create_directory_symlink("..2", conf / "..tmp");
  fs::rename(conf / "..tmp", conf / "..data");
  EXPECT_TRUE(settles());
  write(conf / "..2" / "pinglist.yaml", "three");
  EXPECT_TRUE(settles()) << "the link's new target is watched";
  write(conf / "..1" / "pinglist.yaml", "four");
  EXPECT_FALSE(settles()) << "its old target is not";
}

TEST_F(FileWatcherTest, SeesTheTargetOfALinkInAnotherDirectory) {
  const fs::path link = root_ / "link.yaml";
  fs::create_symlink(file_, link);
  watch(link);
  replace(file_, "two");
  EXPECT_TRUE(settles());
  fs::remove(link);
  EXPECT_TRUE(settles());
}

TEST_F(FileWatcherTest, SurvivesALinkToItself) {
  fs::create_symlink("loop.yaml", root_ / "loop.yaml");
  watch(root_ / "loop.yaml");
  fs::remove(root_ / "loop.yaml");
  write(root_ / "loop.yaml", "one");
  EXPECT_TRUE(settles());
}

TEST_F(FileWatcherTest, WaitsUntilWritingHasCometoRestButNotForever) {
  watch(file_);
  const Nanos start = now_;
  bool seen = false;
  while (!seen && now_ < start + 10 * kSecond) {
    write(file_, "more");
    seen = watcher_->changed(now_);
    if (!seen) now_ += 40 * kMillisecond;
  }
  EXPECT_GE(now_ - start, FileWatcher::kMaxDelay);
  EXPECT_LE(now_ - start, FileWatcher::kMaxDelay + 40 * kMillisecond);
}

TEST_F(FileWatcherTest, TheDescriptorWakesWhenTheChangeIsDue) {
  watch(file_);
  write(file_, "two");
  ASSERT_TRUE(readable());
  ASSERT_FALSE(watcher_->changed(now_));
  ASSERT_TRUE(readable(10'000)) << "the debounce timer never fired";
  EXPECT_TRUE(watcher_->changed(now_ + FileWatcher::kDebounce));
  EXPECT_FALSE(readable());
}

}  // namespace
}  // namespace pingloom::file_watcher_test
