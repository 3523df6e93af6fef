#include "common/daemon.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "fake_service_manager.h"
#include "temporary_directory.h"

namespace pingloom::daemon_test {
namespace {

using testing::ElementsAre;
using Asked = ServiceManager::Asked;

struct FakeConfig {
  log::Levels log_levels;
  std::string text;
};

Result<FakeConfig> parseFake(std::string_view text, std::string_view file) {
  if (text.find("wrong") != std::string_view::npos) return makeError(file, "is wrong");
  return FakeConfig{{}, std::string(text)};
}

// Is asked what the test lists; before each the file is written.
struct FakeDaemon {
  static constexpr std::array<std::string_view, 3> kReloadable = {"controller", "keys.others",
                                                                  "limits"};
  std::filesystem::path file;
  std::vector<std::string> edits;
  std::vector<std::string> taken;

  Asked run(ServiceManager& /*manager*/) {
    if (edits.empty()) return Asked::kStop;
    EXPECT_TRUE(writeFileAtomic(file, edits.front()));
    edits.erase(edits.begin());
    return Asked::kReload;
  }
  void reload(const FakeConfig& config) { taken.push_back(config.text); }
};

class DaemonTest : public testing::Test {
 protected:
  DaemonTest() : file_(folder_ / "agent.yaml") {
    EXPECT_TRUE(writeFileAtomic(file_, "controller: a\nport: 1\n"));
  }

  std::string logged(std::vector<std::string> edits, std::vector<std::string>& taken) {
    FakeDaemon daemon{file_, std::move(edits), {}};
    test::FakeServiceManager manager;
    testing::internal::CaptureStderr();
    log::init("test", log::Level::kInfo);
    daemon::serve(daemon, manager, file_.native(), parseFake);
    taken = daemon.taken;
    return testing::internal::GetCapturedStderr();
  }

  const test::TemporaryDirectory folder_;
  const std::filesystem::path file_;
};

TEST_F(DaemonTest, AWrongConfigurationIsSaidAndNotTaken) {
  std::vector<std::string> taken;
  const std::string log = logged({"wrong", "controller: b\nport: 1\n"}, taken);
  EXPECT_THAT(taken, ElementsAre("controller: b\nport: 1\n"));
  EXPECT_THAT(log, testing::HasSubstr("is wrong; the configuration from before stays in force"));
  EXPECT_THAT(log, testing::HasSubstr("agent.yaml is in force\n"));
}

TEST_F(DaemonTest, WhatWaitsForARestartIsNamed) {
  std::vector<std::string> taken;
  const std::string log = logged({"controller: b\nport: 2\nhttp: c\n"}, taken);
  EXPECT_THAT(log, testing::HasSubstr("in force but for what needs a restart: http, port\n"));
}

TEST_F(DaemonTest, OfAMapThatIsReloadableInPartTheRestIsNamed) {
  ASSERT_TRUE(writeFileAtomic(file_, "keys: {own: a, others: b}\nlimits: {rows: 1}\n"));
  std::vector<std::string> taken;
  const std::string log = logged({"keys: {own: c, others: d}\nlimits: {rows: 2}\n"}, taken);
  EXPECT_THAT(log, testing::HasSubstr("in force but for what needs a restart: keys.own\n"));
}

// What fail() says where JOURNAL_STREAM names stderr, or another file.
std::string saidByFail(bool journal) {
  testing::internal::CaptureStderr();
  struct stat error_stream {};
  EXPECT_EQ(::fstat(STDERR_FILENO, &error_stream), 0);
  const auto inode = error_stream.st_ino + (journal ? 0 : 1);
  ::setenv("JOURNAL_STREAM", fmt::format("{}:{}", error_stream.st_dev, inode).c_str(), 1);
  EXPECT_EQ(daemon::fail({"pingloom-agent", "", ""}, {"agent.yaml", "is wrong"}, 2), 2);
  ::unsetenv("JOURNAL_STREAM");
  return testing::internal::GetCapturedStderr();
}

TEST_F(DaemonTest, WhatEndsItIsAnErrorInTheJournal) {
  EXPECT_EQ(saidByFail(true), "<3>pingloom-agent: agent.yaml: is wrong\n");
  EXPECT_EQ(saidByFail(false), "pingloom-agent: agent.yaml: is wrong\n");
}

TEST_F(DaemonTest, TheUrlIsThereWhileTheDaemonIs) {
  const std::filesystem::path file = folder_ / "url";
  {
    const daemon::UrlFile url(file);
    ASSERT_TRUE(url.write("http://here"));
    EXPECT_EQ(*readFile(file, 100), "http://here\n");
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(DaemonTest, UnreadableOrWrongConfigurationsAreErrors) {
  EXPECT_FALSE(daemon::readConfig(folder_ / "none", parseFake));
  ASSERT_TRUE(writeFileAtomic(file_, "wrong"));
  EXPECT_FALSE(daemon::readConfig(file_, parseFake));
}

}  // namespace
}  // namespace pingloom::daemon_test
