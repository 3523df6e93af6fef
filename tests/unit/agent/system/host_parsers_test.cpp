// The files of /proc about the whole host, from recorded texts.
#include "agent/system/host_parsers.h"

#include <gtest/gtest.h>

#include <string>

#include "truncations.h"

namespace pingloom::agent::system::host_parsers_test {
namespace {

constexpr std::string_view kStat =
    "cpu  3855286 1733787 603383 355099 5408 0 26731 54502 0 0\n"
    "cpu0 1928016 856260 296325 197535 1144 0 11316 26484 0 0\n"
    "cpu1 1927270 877527 307057 157564 4263 0 15414 28017 0 0\n"
    "intr 29779422 0 9 0 0 18446744073709551615\n"
    "ctxt 73554252\n"
    "btime 1795686312\n"
    "processes 284718\n"
    "procs_running 7\n"
    "procs_blocked 0\n"
    "softirq 29779422 0 1904846 3731 20376186 1030109 0 57 1554461 25023 4885009\n";

TEST(HostParsers, ReadStat) {
  Readings readings;
  parseStat(kStat, readings);
  EXPECT_EQ(readings.malformed, 0U);
  EXPECT_EQ(readings.all.size(), 1 + 2 * 8 + 6U);
  EXPECT_DOUBLE_EQ(valueOf(readings, "node_cpu_seconds_total", {"0", "user"}), 19280.16);
  EXPECT_DOUBLE_EQ(valueOf(readings, "node_cpu_seconds_total", {"1", "steal"}), 280.17);
  EXPECT_EQ(valueOf(readings, "node_cpu_seconds_total", {"all", "user"}), -1);
  EXPECT_EQ(valueOf(readings, "pingloom_system_cpus"), 2);
  EXPECT_EQ(valueOf(readings, "node_intr_total"), 29779422);
  EXPECT_EQ(valueOf(readings, "node_context_switches_total"), 73554252);
  EXPECT_EQ(valueOf(readings, "node_boot_time_seconds"), 1795686312);
  EXPECT_EQ(valueOf(readings, "node_forks_total"), 284718);
  EXPECT_EQ(valueOf(readings, "node_procs_running"), 7);
  EXPECT_EQ(valueOf(readings, "node_procs_blocked"), 0);
  expectNonsenseIsHarmless(kStat, parseStat);
}

// Only the number of processors depends on the rest of the file.
TEST(HostParsers, ReadStatThatIsCutOff) {
  constexpr auto kWithoutSum = [](std::string_view text, Readings& readings) {
    parseStat(text, readings);
    std::erase_if(readings.all, [](const Reading& reading) {
      return reading.family->name == std::string_view("pingloom_system_cpus");
    });
  };
  expectTruncationsAreHarmless(kStat, kWithoutSum);
}

TEST(HostParsers, SumTheProcessorsOfALargeHost) {
  for (const std::size_t processors : {kMaxProcessors, kMaxProcessors + 1, std::size_t{512}}) {
    std::string text = "cpu 1 2 3 4 5 6 7 800 0 0\n";
    for (std::size_t i = 0; i < processors; ++i) {
      text += "cpu" + std::to_string(i) + " 1 2 3 4 5 6 7 8 0 0\n";
    }
    Readings readings;
    parseStat(text, readings);
    EXPECT_EQ(valueOf(readings, "pingloom_system_cpus"), static_cast<double>(processors));
    const bool together = processors > kMaxProcessors;
    EXPECT_EQ(readings.all.size(), 1 + 8 * (together ? 1 : processors));
    EXPECT_EQ(valueOf(readings, "node_cpu_seconds_total", {"all", "steal"}), together ? 8 : -1);
  }
}

TEST(HostParsers, LeaveOutLinesWithWrongNumbers) {
  Readings readings;
  parseStat(
      "cpu 1 2 3 4\ncpu0 1 2 3\ncpu1 1 -2 3 4\ncpu2\nctxt\nprocesses 99999999999999999999\n"
      "btime 5x\nintr 0x10\nunknown x\n\n",
      readings);
  EXPECT_EQ(readings.malformed, 6U);
  EXPECT_EQ(readings.all.size(), 4U) << "the number of processors, and three modes of one";
  EXPECT_EQ(valueOf(readings, "node_cpu_seconds_total", {"0", "system"}), 0.03);
}

TEST(HostParsers, ReadLoad) {
  Readings readings;
  parseLoad("5.24 5.56 0.04 5/134 25028\n", readings);
  EXPECT_EQ(valueOf(readings, "node_load1"), 5.24);
  EXPECT_EQ(valueOf(readings, "node_load5"), 5.56);
  EXPECT_EQ(valueOf(readings, "node_load15"), 0.04);
  for (const char* wrong : {"", "\n", "1 2\n", "1 2 x\n", "1 2 inf\n", "1 2 1e3 4\n", "1 -2 3\n",
                            "1..2 2 3\n", ". 2 3\n", "1 2 3"}) {
    Readings none;
    parseLoad(wrong, none);
    EXPECT_EQ(none.all.size(), 0U) << wrong;
    EXPECT_EQ(none.malformed, 1U) << wrong;
  }
}

constexpr std::string_view kMeminfo =
    "MemTotal:       24684092 kB\n"
    "MemFree:        14217760 kB\n"
    "Active(anon):      61668 kB\n"
    "Committed_AS:    3674696 kB\n"
    "HugePages_Total:      12\n"
    "Hugepagesize:       2048 kB\n";

TEST(HostParsers, ReadMemory) {
  Readings readings;
  parseMemory(kMeminfo, readings);
  EXPECT_EQ(readings.all.size(), 6U);
  EXPECT_EQ(valueOf(readings, "node_memory_Active_anon_bytes"), 61668.0 * 1024);
  EXPECT_EQ(valueOf(readings, "node_memory_MemTotal_bytes"), 24684092.0 * 1024);
  EXPECT_EQ(valueOf(readings, "node_memory_Committed_AS_bytes"), 3674696.0 * 1024);
  EXPECT_EQ(valueOf(readings, "node_memory_HugePages_Total"), 12);
  expectTruncationsAreHarmless(kMeminfo, parseMemory);
  expectNonsenseIsHarmless(kMeminfo, parseMemory);
  Readings wrong;
  parseMemory("MemTotal: 1 MB\nMemFree: x kB\nMemAvailable:\nDirty 1 kB\nBuffers:1 kB\n", wrong);
  EXPECT_EQ(wrong.all.size(), 0U);
  EXPECT_EQ(wrong.malformed, 3U);
}

TEST(HostParsers, ReadVmstat) {
  constexpr std::string_view kText = "nr_free_pages 3554440\npgmajfault 977\noom_kill 2\n";
  Readings readings;
  parseVmstat(kText, readings);
  EXPECT_EQ(readings.all.size(), 2U);
  EXPECT_EQ(valueOf(readings, "node_vmstat_pgmajfault"), 977);
  EXPECT_EQ(valueOf(readings, "node_vmstat_oom_kill"), 2);
  expectTruncationsAreHarmless(kText, parseVmstat);
  expectNonsenseIsHarmless(kText, parseVmstat);
}

TEST(HostParsers, ReadPressure) {
  constexpr std::string_view kText =
      "some avg10=90.19 avg60=92.94 avg300=92.03 total=22041364400\n"
      "full avg10=0.00 avg60=0.00 avg300=0.00 total=250000\n";
  const auto parse = [](const char* name) {
    return
        [name](std::string_view text, Readings& readings) { parsePressure(name, text, readings); };
  };
  Readings readings;
  for (const char* name : {"cpu", "memory", "io"}) parse(name)(kText, readings);
  EXPECT_EQ(readings.all.size(), 5U) << "a whole host does not wait for its processors";
  EXPECT_DOUBLE_EQ(valueOf(readings, "node_pressure_cpu_waiting_seconds_total"), 22041.3644);
  EXPECT_DOUBLE_EQ(valueOf(readings, "node_pressure_io_stalled_seconds_total"), 0.25);
  expectTruncationsAreHarmless(kText, parse("memory"));
  expectNonsenseIsHarmless(kText, parse("memory"));
  Readings wrong;
  parse("io")("some avg10=1 total=x\nfull\nhalf total=1\n", wrong);
  EXPECT_EQ(wrong.all.size(), 0U);
  EXPECT_EQ(wrong.malformed, 2U);
}

}  // namespace
}  // namespace pingloom::agent::system::host_parsers_test
