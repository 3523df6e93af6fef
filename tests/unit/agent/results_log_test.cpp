#include "agent/results_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "unit/common/temporary_directory.h"

namespace pingloom::agent::results_log_test {
namespace {

using Json = nlohmann::json;

probe::ClosedWindow windowOf(std::uint64_t index, std::size_t pairs = 2) {
  auto assignment = std::make_shared<plan::Assignment>();
  assignment->probe.name = "udp";
  assignment->source = *IpAddress::parse("10.0.0.1");
  probe::ClosedWindow window;
  window.index = index;
  for (std::size_t i = 0; i < pairs; ++i) {
    assignment->destinations.push_back(
        IpAddress::fromV4(0x0A000002 + static_cast<std::uint32_t>(i)));
    probe::PairWindow& pair = window.pairs.emplace_back();
    pair.sent = 10;
    pair.received = 9;
    pair.lost = 1;
    pair.anomalous[0] = 2;
    for (Nanos time = 1000; time < 1009; ++time) pair.addNetwork(time);
  }
  window.assignment = std::move(assignment);
  return window;
}

class ResultsLogTest : public testing::Test {
 protected:
  ResultsLog open() {
    auto opened = ResultsLog::open(config_);
    EXPECT_TRUE(opened) << opened.error().text();
    return std::move(*opened);
  }
  static std::vector<std::string> lines(const std::filesystem::path& file) {
    std::vector<std::string> all;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
  std::filesystem::path numbered(int number) const {
    return config_.path.native() + "." + std::to_string(number);
  }

  test::TemporaryDirectory folder_;
  ResultsLogConfig config_{.path = folder_ / "results.jsonl", .max_bytes = 2000, .files = 3};
};

TEST_F(ResultsLogTest, ALineIsAPairOfAWindow) {
  ResultsLog log = open();
  probe::ClosedWindow window = windowOf(176'369'472);
  window.pairs[1].clear();  // a pair without any count
  log.add(window);
  const auto written = lines(config_.path);
  ASSERT_EQ(written.size(), 1U);
  const Json line = Json::parse(written[0]);
  EXPECT_EQ(line.at("start"), "2025-11-21T03:12:00Z");
  EXPECT_EQ(line.at("window_ns"), 10 * kSecond);
  EXPECT_EQ(line.at("probe"), "udp");
  EXPECT_EQ(line.at("source"), "10.0.0.1");
  EXPECT_EQ(line.at("destination"), "10.0.0.2");
  EXPECT_EQ(line.at("sent"), 10);
  EXPECT_EQ(line.at("lost"), 1);
  EXPECT_EQ(line.at("anomalous"), Json({{"stalled", 2}}));
  EXPECT_EQ(line.at("network").at("min_ns"), 1000);
  EXPECT_EQ(line.at("network").at("max_ns"), 1008);
  EXPECT_EQ(line.at("jitter_ns"), 1);
  EXPECT_FALSE(line.contains("path"));
  EXPECT_FALSE(line.contains("responder"));
}

TEST_F(ResultsLogTest, ItIsBoundedBySizeAndNumber) {
  ResultsLog log = open();
  for (std::uint64_t index = 1; index <= 40; ++index) log.add(windowOf(index));
  EXPECT_TRUE(std::filesystem::exists(numbered(1)));
  EXPECT_TRUE(std::filesystem::exists(numbered(2)));
  EXPECT_FALSE(std::filesystem::exists(numbered(3)));
  for (const auto& file : {config_.path, numbered(1), numbered(2)}) {
    EXPECT_LE(std::filesystem::file_size(file), config_.max_bytes) << file;
    EXPECT_FALSE(lines(file).empty());
  }
  const Json newest = Json::parse(lines(config_.path).back());
  EXPECT_EQ(newest.at("start"), "1970-01-01T00:06:40Z");
  EXPECT_LT(Json::parse(lines(numbered(2)).back()).at("start"),
            Json::parse(lines(numbered(1)).front()).at("start"));
  EXPECT_EQ(log.lost(), 0U);
}

TEST_F(ResultsLogTest, OneFileIsStartedAgain) {
  config_.files = 1;
  ResultsLog log = open();
  for (std::uint64_t index = 1; index <= 40; ++index) log.add(windowOf(index));
  EXPECT_LE(std::filesystem::file_size(config_.path), config_.max_bytes);
  EXPECT_FALSE(std::filesystem::exists(numbered(1)));
}

TEST_F(ResultsLogTest, ARestartContinuesTheFile) {
  open().add(windowOf(1));
  open().add(windowOf(2));
  EXPECT_EQ(lines(config_.path).size(), 4U);
}

TEST_F(ResultsLogTest, WhatCannotBeWrittenIsLostAndCounted) {
  ResultsLog log = open();
  for (int index = 1; !std::filesystem::exists(numbered(1)); ++index) {
    log.add(windowOf(static_cast<std::uint64_t>(index)));
  }
  std::filesystem::remove_all(folder_.path());
  for (std::uint64_t index = 50; index < 60; ++index) log.add(windowOf(index));
  EXPECT_GT(log.lost(), 0U);
  EXPECT_FALSE(ResultsLog::open(config_)) << "at the start it is an error";
}

}  // namespace
}  // namespace pingloom::agent::results_log_test
