// Control groups in a tree in the place of /sys/fs/cgroup.
#include "agent/system/cgroups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../../common/temporary_directory.h"
#include "agent/system/cgroup_io.h"
#include "truncations.h"

namespace pingloom::agent::system::cgroups_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

constexpr std::string_view kCpuStat =
    "usage_usec 63273826957\nuser_usec 56774288457\nsystem_usec 6499538499\nnr_periods 10\n"
    "nr_throttled 3\nthrottled_usec 2500000\n";
constexpr std::string_view kIoStat =
    "8:0 rbytes=8192 wbytes=4096 rios=2 wios=1 dbytes=512 dios=1\n"
    "259:1 rbytes=100 wbytes=200 rios=3 wios=4 dbytes=0 dios=0 cost.usage=7\n"
    "7:0 \n";
constexpr std::string_view kMemoryEvents = "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\n";

class CgroupFiles : public testing::Test {
 protected:
  void make(const std::string& path, bool memory = true) {
    fs::create_directories(root_ / path);
    write(path + "/cpu.stat", kCpuStat);
    if (!memory) return;
    write(path + "/memory.current", "1048576\n");
    write(path + "/memory.events", kMemoryEvents);
    write(path + "/io.stat", kIoStat);
  }
  void write(const std::string& path, std::string_view text) {
    std::ofstream(root_ / path) << text;
  }

  test::TemporaryDirectory directory_;
  const fs::path root_ = directory_.path() / "cgroup";
};

std::vector<std::string> pathsOf(const Cgroups& cgroups) {
  std::vector<std::string> paths;
  for (const Cgroup& cgroup : cgroups.shown) paths.push_back(cgroup.path);
  return paths;
}

TEST_F(CgroupFiles, AreFoundToTheDepthThatIsShown) {
  make("init.scope");
  make("system.slice/ssh.service/deeper");
  make("kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice/container");
  make("kubepods/besteffort/pod2/container");
  make("user.slice/user-0.slice/session-1.scope");
  write("cgroup.procs", "1\n");
  const auto found = findCgroups(root_);
  EXPECT_THAT(
      pathsOf(found),
      ElementsAre("/init.scope", "/kubepods", "/kubepods.slice", "/system.slice", "/user.slice",
                  "/kubepods/besteffort", "/kubepods.slice/kubepods-burstable.slice",
                  "/system.slice/ssh.service", "/user.slice/user-0.slice",
                  "/kubepods/besteffort/pod2",
                  "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1.slice"));
  EXPECT_EQ(found.left_out, 0U);
}

TEST_F(CgroupFiles, HaveALimit) {
  for (std::size_t i = 0; i < kMaxCgroups + 5; ++i) {
    fs::create_directories(root_ / "system.slice" / std::to_string(i));
  }
  const auto found = findCgroups(root_);
  EXPECT_EQ(found.shown.size(), kMaxCgroups);
  EXPECT_EQ(found.shown.front().path, "/system.slice");
  EXPECT_EQ(found.left_out, 6U);
  Readings readings;
  CgroupIo io;
  readCgroups(root_, found, io, readings);
  EXPECT_EQ(readings.left_out, 6U);
  EXPECT_EQ(readings.all.size(), 0U) << "they have no files";
}

TEST_F(CgroupFiles, AreRead) {
  make("system.slice/db.service");
  make("user.slice", false);
  auto found = findCgroups(root_);
  found.shown.push_back({"/has.ended", ""});
  Readings readings;
  CgroupIo io;
  readCgroups(root_, found, io, readings);
  EXPECT_EQ(readings.malformed, 0U);
  EXPECT_EQ(readings.all.size(), 8 + 2U);
  const Readings::Values db = {"/system.slice/db.service"};
  EXPECT_DOUBLE_EQ(valueOf(readings, "pingloom_cgroup_cpu_seconds_total", db), 63273.826957);
  EXPECT_DOUBLE_EQ(valueOf(readings, "pingloom_cgroup_cpu_throttled_seconds_total", db), 2.5);
  EXPECT_EQ(valueOf(readings, "pingloom_cgroup_memory_bytes", db), 1048576);
  EXPECT_EQ(valueOf(readings, "pingloom_cgroup_oom_kills_total", db), 2);
  EXPECT_EQ(valueOf(readings, "pingloom_cgroup_io_read_bytes_total", db), 8292);
  EXPECT_EQ(valueOf(readings, "pingloom_cgroup_io_written_bytes_total", db), 4296);
  EXPECT_EQ(valueOf(readings, "pingloom_cgroup_io_reads_total", db), 5);
  EXPECT_EQ(valueOf(readings, "pingloom_cgroup_io_writes_total", db), 5);
  EXPECT_EQ(valueOf(readings, "pingloom_cgroup_memory_bytes", {"/user.slice"}), -1);
}

TEST_F(CgroupFiles, OfPodsHaveTheirPods) {
  const std::string uid = "2b1c5a7e-93d0-4f0a-8a54-0c9c3b5f7d21";
  const std::string path = "/kubepods/burstable/pod" + uid;
  make(path.substr(1));
  const auto found = findCgroups(root_);
  Readings readings;
  CgroupIo io;
  readCgroups(root_, found, io, readings);
  EXPECT_EQ(readings.malformed, 0U);
  EXPECT_EQ(readings.all.size(), 8U);
  for (const Reading& reading : readings.all) {
    EXPECT_EQ(reading.labels, (Readings::Values{path, uid})) << reading.family->name;
  }
}

TEST_F(CgroupFiles, HaveNoIoThatLacksADevice) {
  const auto with = [](std::string_view text, Readings& readings) {
    CgroupIo().read(text, {"/a"}, readings);
  };
  expectNonsenseIsHarmless(kIoStat, with);
  for (std::size_t size = 1; size < kIoStat.size(); ++size) {
    Readings readings;
    with(kIoStat.substr(0, size), readings);
    const bool whole_lines = kIoStat[size - 1] == '\n';
    EXPECT_EQ(readings.all.size(), whole_lines ? 4U : 0U) << size << " bytes";
    EXPECT_EQ(readings.malformed, whole_lines ? 0U : 1U) << size << " bytes";
  }
  for (const char* wrong : {"8 rbytes=1\n", "8:0 rbytes\n", "8:0 rbytes=\n", "8:0 wios=-1\n",
                            "\n8:0 rios=1\n", "8:0 rbytes=18446744073709551616\n"}) {
    Readings readings;
    with(wrong, readings);
    EXPECT_EQ(readings.all.size(), 0U) << wrong;
    EXPECT_EQ(readings.malformed, 1U) << wrong;
  }
  Readings readings;
  with("", readings);
  EXPECT_EQ(valueOf(readings, "pingloom_cgroup_io_reads_total", {"/a"}), 0) << "no device yet";
}

// Volumes of pods come and go, and their numbers with them.
TEST_F(CgroupFiles, CountOnWhenADeviceIsRemoved) {
  CgroupIo io;
  const auto read = [&](std::string_view text) {
    Readings readings;
    io.read(text, {"/a"}, readings);
    return valueOf(readings, "pingloom_cgroup_io_read_bytes_total", {"/a"});
  };
  EXPECT_EQ(read("8:0 rbytes=1000\n253:5 rbytes=100\n"), 1100);
  EXPECT_EQ(read("8:0 rbytes=1010\n"), 1110);
  EXPECT_EQ(read("8:0 rbytes=1010\n253:5 rbytes=7\n"), 1117) << "another one has its number";
  io.keep({{"/b", ""}});
  EXPECT_EQ(read("8:0 rbytes=3\n"), 3) << "another cgroup has its name";
  EXPECT_EQ(read("8:0 rbytes=18446744073709551615\n8:1 rbytes=9\n"), 0x1p64);
}

TEST_F(CgroupFiles, HaveLinesOfDevicesWithoutNumbersOrNames) {
  Readings readings;
  CgroupIo().read("7:7 7:6 7:5 rbytes=28672 wbytes=0 rios=2 wios=0\n(unknown) rbytes=5\n9:0\n",
                  {"/a"}, readings);
  EXPECT_EQ(readings.malformed, 0U);
  EXPECT_EQ(valueOf(readings, "pingloom_cgroup_io_read_bytes_total", {"/a"}), 28672);
}

TEST_F(CgroupFiles, OfManyDevicesAreReadWhole) {
  make("a.slice");
  std::string many;
  for (int i = 0; i < 128; ++i) {
    many += "259:" + std::to_string(i) +
            " rbytes=1234567890123456 wbytes=1 rios=1234567890 wios=1 dbytes=0 dios=0\n";
  }
  write("a.slice/io.stat", many);
  Readings readings;
  CgroupIo io;
  const Cgroups shown{{{"/a.slice", ""}}, 0};  // it outlives the readings
  readCgroups(root_, shown, io, readings);
  EXPECT_EQ(valueOf(readings, "pingloom_cgroup_io_writes_total", {"/a.slice"}), 128);
}

TEST_F(CgroupFiles, OfVersion2AreFoundWhereTheyAre) {
  EXPECT_EQ(cgroupRoot(root_), std::nullopt);
  fs::create_directories(root_ / "unified");
  EXPECT_EQ(cgroupRoot(root_), std::nullopt);
  write("unified/cgroup.controllers", "");
  EXPECT_EQ(cgroupRoot(root_), root_ / "unified");
  write("cgroup.controllers", "cpu memory\n");
  EXPECT_EQ(cgroupRoot(root_), root_);
  EXPECT_EQ(findCgroups(directory_.path() / "none").shown.size(), 0U);
}

TEST_F(CgroupFiles, MayHaveFilesThatAreCutOffOrWrong) {
  const auto with = [](void (*parse)(std::string_view, const Readings::Values&, Readings&)) {
    return [parse](std::string_view text, Readings& readings) { parse(text, {"/a"}, readings); };
  };
  expectTruncationsAreHarmless(kCpuStat, with(parseCgroupProcessor));
  expectNonsenseIsHarmless(kCpuStat, with(parseCgroupProcessor));
  expectTruncationsAreHarmless(kMemoryEvents, with(parseCgroupMemoryEvents));
  for (const char* wrong : {"", "\n", "5", "-1\n", "max\n", "1 2\n", "99999999999999999999\n"}) {
    Readings readings;
    parseCgroupMemory(wrong, {"/a"}, readings);
    EXPECT_EQ(readings.all.size(), 0U) << wrong;
    EXPECT_EQ(readings.malformed, 1U) << wrong;
  }
  Readings readings;
  parseCgroupProcessor("usage_usec\nthrottled_usec x\n", {"/a"}, readings);
  EXPECT_EQ(readings.all.size(), 0U);
  EXPECT_EQ(readings.malformed, 2U);
}

}  // namespace
}  // namespace pingloom::agent::system::cgroups_test
