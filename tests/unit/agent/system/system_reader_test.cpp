// A host's files in folders in the place of /proc and /sys/fs/cgroup.
#include "agent/system/system_reader.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "../../common/temporary_directory.h"
#include "agent/system/kept_file.h"
#include "truncations.h"

namespace pingloom::agent::system::system_reader_test {
namespace {

namespace fs = std::filesystem;

class Host : public testing::Test {
 protected:
  void write(const std::string& path, std::string_view text) {
    fs::create_directories((directory_ / path).parent_path());
    std::ofstream(directory_ / path) << text;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(Host, LeavesOutWhatItLacks) {
  SystemReader reader(directory_ / "proc", directory_ / "cgroup");
  Readings readings;
  const auto read = [&] {
    readings.clear();
    reader.readHost(readings);
    reader.readDevices(readings);
    reader.readCgroups(readings);
  };
  read();
  utsname name{};
  ASSERT_EQ(uname(&name), 0);
  EXPECT_EQ(valueOf(readings, "node_uname_info",
                    {name.domainname, name.machine, name.nodename, name.release, name.sysname,
                     name.version}),
            1);
  EXPECT_EQ(readings.all.size(), 1U);
  write("proc/stat", "ctxt 5\n");
  write("proc/pressure/io", "some avg10=0.00 total=1000000\n");
  write("proc/self/net/dev", "lo: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n");
  write("proc/self/mounts", "/dev/root / ext4 rw 0 0\n/dev/sda1 /no/such/folder xfs rw 0 0\n");
  write("cgroup/cgroup.controllers", "cpu\n");
  write("cgroup/a.slice/cpu.stat", "usage_usec 7000000\n");
  read();
  EXPECT_EQ(valueOf(readings, "node_context_switches_total"), 5);
  EXPECT_EQ(valueOf(readings, "node_pressure_io_waiting_seconds_total"), 1);
  EXPECT_EQ(valueOf(readings, "node_network_transmit_packets_total", {"lo"}), 10);
  EXPECT_EQ(valueOf(readings, "pingloom_cgroup_cpu_seconds_total", {"/a.slice"}), 7);
  const Readings::Values root = {"/dev/root", "/", "ext4"};
  EXPECT_GT(valueOf(readings, "node_filesystem_size_bytes", root), 0);
  EXPECT_GE(valueOf(readings, "node_filesystem_size_bytes", root),
            valueOf(readings, "node_filesystem_avail_bytes", root));
  EXPECT_EQ(readings.all.size(), 1 + 1 + 1 + 16 + 1 + 5U);
  EXPECT_EQ(readings.malformed, 0U);
  write("proc/stat", "ctxt 6\n");
  write("proc/self/mounts", "");
  read();
  EXPECT_EQ(valueOf(readings, "node_context_switches_total"), 6);
  EXPECT_EQ(readings.all.size(), 1 + 1 + 1 + 16 + 1U);
}

TEST_F(Host, FilesMayHaveAnyLength) {
  KeptFile file(directory_ / "file");
  testing::internal::CaptureStderr();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(file.read(), std::nullopt);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  EXPECT_NE(log.find((directory_ / "file").string() + " cannot be read"), std::string::npos) << log;
  for (const std::size_t size : {0, 1, 4096, 4097, 100'000, 10}) {
    const std::string text(size, 'x');
    write("file", text);
    EXPECT_EQ(file.read(), text);
  }
  write("file", std::string(KeptFile::kMaxBytes + 1, 'x'));
  EXPECT_EQ(file.read()->size(), KeptFile::kMaxBytes);
}

}  // namespace
}  // namespace pingloom::agent::system::system_reader_test
