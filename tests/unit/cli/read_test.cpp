// pingloom read: its arguments, its pattern and what it prints. What it does is in
// tests/integration/test_read.py.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "captured_run.h"
#include "cli/commands.h"
#include "cli/read_pattern.h"
#include "cli/read_report.h"

namespace pingloom::cli::read_test {
namespace {

using rdma::RcStatus;

TEST(ReadPattern, AnyPartOfItCanBeChecked) {
  std::vector<std::uint8_t> region(1000);
  fillWithPattern(region, 42);
  const std::span<const std::uint8_t> all(region);
  for (std::size_t offset = 0; offset < 20; ++offset) {
    for (std::size_t bytes = 0; bytes < 40; ++bytes) {
      EXPECT_TRUE(hasPattern(all.subspan(offset, bytes), 42, offset));
    }
  }
  EXPECT_FALSE(hasPattern(all.subspan(8, 8), 42, 0)) << "another place";
  EXPECT_FALSE(hasPattern(all.first(8), 43, 0)) << "another seed";
  for (std::size_t at = 0; at < 20; ++at) {
    region[at] ^= 1;
    EXPECT_FALSE(hasPattern(all.first(20), 42, 0)) << at;
    region[at] ^= 1;
  }
}

// The first word of docs/read-exchange.md's formula with seed 0 is SplitMix64's first output.
TEST(ReadPattern, IsSplitMix64) { EXPECT_EQ(patternWord(0, 0), 0xE220A8397B1DCDAFU); }

ReadReport reportOf(std::uint64_t done) {
  ReadReport report;
  report.server = "10.0.0.2";
  report.region = "test";
  report.device = "mlx5_0";
  report.server_device = "soft";
  report.region_bytes = 1U << 20;
  report.mtu = 1024;
  report.job = {.bytes = 4096, .count = 10, .depth = 16};
  for (std::uint64_t i = 1; i <= done; ++i) report.alone.latency.add(i * 1000);
  report.alone.done = report.alone.checked = done;
  report.alone.elapsed = kSecond;
  return report;
}

TEST(ReadReport, GoodOne) {
  ReadReport report = reportOf(10);
  report.together = report.alone;
  report.together->depth = 16;
  EXPECT_TRUE(isGood(report));
  EXPECT_EQ(titleOf(report),
            "reading 10.0.0.2:test (1 MiB, device soft) with mlx5_0, path MTU 1024\n");
  const std::string text = textOf(report);
  EXPECT_NE(text.find("10 READs of 4 KiB, 1 at a time: latency min 1.00 us, p50 5.00 us"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("16 at a time: 0.0 MB/s, 10 READs/s"), std::string::npos) << text;
  EXPECT_NE(text.find("contents: right in all 20 READs"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(jsonOf(report));
  EXPECT_EQ(json["ok"], true);
  EXPECT_EQ(json["phases"][1]["bytes_per_second"], 40960.0);
}

TEST(ReadReport, FailureSaysWhatToDo) {
  ReadReport report = reportOf(3);
  report.alone.failed[static_cast<std::size_t>(RcStatus::kRetriesExceeded)] = 1;
  report.alone.failure = "mlx5_0 port 1: a request completed in error";
  EXPECT_FALSE(isGood(report));
  const std::string text = textOf(report);
  EXPECT_NE(text.find("1 failed: no response"), std::string::npos) << text;
  EXPECT_NE(text.find("UDP port 4791"), std::string::npos) << text;
  EXPECT_NE(text.find("ended: mlx5_0 port 1"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(jsonOf(report));
  EXPECT_EQ(json["phases"][0]["failed"]["no response"], 1);
  EXPECT_EQ(json["ok"], false);
}

TEST(ReadReport, WrongContentsAreNoSuccess) {
  ReadReport report = reportOf(3);
  report.alone.wrong = 1;
  EXPECT_FALSE(isGood(report));
  EXPECT_NE(textOf(report).find("contents: WRONG in 1 of 3"), std::string::npos);
}

TEST(ReadReport, NothingReadIsNoSuccessAndWhatWasReadUntilCtrlCIs) {
  ReadReport none = reportOf(0);
  none.alone.stopped = true;
  EXPECT_FALSE(isGood(none));
  ReadReport some = reportOf(3);
  some.alone.stopped = true;
  EXPECT_TRUE(isGood(some));
}

TEST(ReadCommand, MistakesAreSaid) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{}, "a HOST:REGION is needed"},
      {{"10.0.0.2"}, "must be HOST:REGION"},
      {{"10.0.0.2:"}, "must be HOST:REGION"},
      {{":test"}, "must be HOST:REGION"},
      {{"10.0.0.2:Te st"}, "must be HOST:REGION"},
      {{"fd00::2:test"}, "an IPv6 address needs brackets"},
      {{"10.0.0.2:test", "--bytes", "-1"}, "--bytes: must be 0 to"},
      {{"10.0.0.2:test", "--count", "0"}, "--count: must be 1 to"},
      {{"10.0.0.2:test", "--depth", "0"}, "--depth: must be 1 to"},
      {{"10.0.0.2:test", "--bytes", "1073741824"}, "more than 1 GiB"},
      {{"10.0.0.2:test", "-d", "mlx5_0/x"}, "the port is not a number"},
      {{"--serve", "--source", "here"}, "here"},
      {{"--serve", "10.0.0.2:test"}, "needs no HOST:REGION"},
      {{"--serve", "--source", "127.0.0.1", "--region", "A"}, "--region: has up to 32"},
  };
  for (const auto& [arguments, word] : mistakes) {
    const Captured run = capture(runRead, arguments);
    EXPECT_EQ(run.code, 2) << word;
    EXPECT_NE(run.err.find(word), std::string::npos) << word << "\n" << run.err;
  }
}

}  // namespace
}  // namespace pingloom::cli::read_test
