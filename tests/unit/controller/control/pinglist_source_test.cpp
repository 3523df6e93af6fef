#include "controller/control/pinglist_source.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <filesystem>
#include <fstream>

#include "unit/eventually.h"

namespace pingloom::controller::pinglist_source_test {
namespace {

using test::eventually;

class PinglistSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("pinglist-source-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    const auto next = folder_ / (name + ".next");
    std::ofstream(next) << text;
    std::filesystem::rename(next, folder_ / name);
  }
  void writePinglist(const std::string& topology) const {
    write("pinglist.yaml",
          "version: 1\n" + topology +
              "probes:\n  - { name: a, protocol: udp, mesh: [10.0.0.1, 10.0.0.2] }\n");
  }
  void writeTopology(const std::string& name, const std::string& of) const {
    write(name, "switches:\n  " + of + ": { addresses: [10.2.0.1] }\n");
  }
  void open() {
    auto opened = PinglistSource::open(folder_ / "pinglist.yaml", {});
    ASSERT_TRUE(opened) << opened.error().text();
    source_ = std::move(*opened);
  }
  // Loads what has changed, once the descriptor says so.
  std::shared_ptr<const pinglist::Pinglist> next() {
    std::shared_ptr<const pinglist::Pinglist> loaded;
    const auto rejected = source_->rejections();
    EXPECT_TRUE(eventually([&] {
      pollfd ready{source_->descriptor(), POLLIN, 0};
      if (::poll(&ready, 1, 0) > 0) loaded = source_->load(false, monotonicNow(), utcNow());
      return loaded != nullptr || source_->rejections() > rejected;
    }));
    return loaded;
  }

  std::filesystem::path folder_;
  std::unique_ptr<PinglistSource> source_;
};

TEST_F(PinglistSourceTest, FollowsTheTopologyFileToo) {
  writeTopology("one.yaml", "leaf0");
  writeTopology("two.yaml", "other");
  writePinglist("topology: one.yaml\n");
  open();
  const auto first = source_->load(true, monotonicNow(), utcNow());
  ASSERT_NE(first, nullptr) << source_->error();
  EXPECT_EQ(first->topology.switches.at(0).name, "leaf0");
  writeTopology("one.yaml", "leaf1");
  const auto second = next();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->topology.switches.at(0).name, "leaf1");
  writePinglist("topology: two.yaml\n");
  const auto third = next();
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(third->topology.switches.at(0).name, "other");
  writeTopology("two.yaml", "spine0");
  ASSERT_NE(next(), nullptr);
  writePinglist("");
  const auto last = next();
  ASSERT_NE(last, nullptr);
  EXPECT_TRUE(last->topology.switches.empty());
}

TEST_F(PinglistSourceTest, ABadTopologyFileLeavesThePinglistInForce) {
  writeTopology("one.yaml", "leaf0");
  writePinglist("topology: one.yaml\n");
  open();
  ASSERT_NE(source_->load(true, monotonicNow(), utcNow()), nullptr);
  write("one.yaml", "switches: 7\n");
  EXPECT_EQ(next(), nullptr);
  EXPECT_NE(source_->error().find("one.yaml"), std::string::npos) << source_->error();
  writeTopology("one.yaml", "leaf2");
  const auto mended = next();
  ASSERT_NE(mended, nullptr);
  EXPECT_EQ(mended->topology.switches.at(0).name, "leaf2");
  EXPECT_EQ(source_->error(), "");
}

}  // namespace
}  // namespace pingloom::controller::pinglist_source_test
