// The files of /proc about disks, interfaces and mounts, from recorded texts.
#include "agent/system/device_parsers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "truncations.h"

namespace pingloom::agent::system::device_parsers_test {
namespace {

using testing::ElementsAre;

constexpr std::string_view kDisks =
    "   7       0 loop0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
    " 259       0 nvme0n1 1368088 35418 40923338 4961366 463763 350230 190231064 1029045 3 322920 "
    "6082772 297400 139 160830624 77722 70795 14637\n"
    " 259       1 nvme0n1p1 5 0 40 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
    "   8       0 sda 10 1 16 20 30 2 32 40 0 50 60\n"
    "   8       1 sda1 10 1 16 20 30 2 32 40 0 50 60\n";

TEST(DeviceParsers, ReadDisks) {
  Readings readings;
  parseDisks(kDisks, readings);
  EXPECT_EQ(readings.malformed, 0U);
  EXPECT_EQ(readings.all.size(), 17 + 11U) << "an old kernel has fewer columns";
  EXPECT_EQ(valueOf(readings, "node_disk_reads_completed_total", {"nvme0n1"}), 1368088);
  EXPECT_EQ(valueOf(readings, "node_disk_read_bytes_total", {"nvme0n1"}), 40923338.0 * 512);
  EXPECT_DOUBLE_EQ(valueOf(readings, "node_disk_read_time_seconds_total", {"nvme0n1"}), 4961.366);
  EXPECT_EQ(valueOf(readings, "node_disk_written_bytes_total", {"nvme0n1"}), 190231064.0 * 512);
  EXPECT_EQ(valueOf(readings, "node_disk_io_now", {"nvme0n1"}), 3);
  EXPECT_DOUBLE_EQ(valueOf(readings, "node_disk_io_time_seconds_total", {"nvme0n1"}), 322.920);
  EXPECT_DOUBLE_EQ(valueOf(readings, "node_disk_flush_requests_time_seconds_total", {"nvme0n1"}),
                   14.637);
  EXPECT_DOUBLE_EQ(valueOf(readings, "node_disk_io_time_weighted_seconds_total", {"sda"}), 0.06);
  expectTruncationsAreHarmless(kDisks, parseDisks);
  expectNonsenseIsHarmless(kDisks, parseDisks);
}

TEST(DeviceParsers, KnowDisksByTheirNames) {
  for (const char* disk :
       {"sda", "sdaa", "vdb", "xvda", "hda", "nvme0n1", "nvme12n3", "mmcblk0", "pmem0"}) {
    EXPECT_TRUE(isPhysicalDisk(disk)) << disk;
  }
  for (const char* other : {"", "sda1", "sdaa12", "vdb3", "xvda1", "nvme0n1p1", "mmcblk0p2",
                            "loop0", "ram0", "zram0", "dm-0", "md127", "sr0", "fd0", "nbd0"}) {
    EXPECT_FALSE(isPhysicalDisk(other)) << other;
  }
}

constexpr std::string_view kNetwork =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop "
    "fifo colls carrier compressed\n"
    "    lo: 20919780226 12882614    0    0    0     0          0         0 20919780226 12882614   "
    " "
    "0    0    0     0       0          0\n"
    "ens1:1:1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
    "veth0a1b: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";

TEST(DeviceParsers, ReadInterfaces) {
  Readings readings;
  parseNetwork(kNetwork, readings);
  EXPECT_EQ(readings.malformed, 0U);
  EXPECT_EQ(readings.all.size(), 2 * 16U) << "the ends of containers' links are left out";
  EXPECT_EQ(valueOf(readings, "node_network_receive_bytes_total", {"lo"}), 20919780226.0);
  const Readings::Values odd = {"ens1:1"};
  EXPECT_EQ(valueOf(readings, "node_network_receive_bytes_total", odd), 1);
  EXPECT_EQ(valueOf(readings, "node_network_receive_drop_total", odd), 4);
  EXPECT_EQ(valueOf(readings, "node_network_receive_multicast_total", odd), 8);
  EXPECT_EQ(valueOf(readings, "node_network_transmit_bytes_total", odd), 9);
  EXPECT_EQ(valueOf(readings, "node_network_transmit_carrier_total", odd), 15);
  EXPECT_EQ(valueOf(readings, "node_network_transmit_compressed_total", odd), 16);
  expectTruncationsAreHarmless(kNetwork, parseNetwork);
  expectNonsenseIsHarmless(kNetwork, parseNetwork);
}

TEST(DeviceParsers, LeaveOutLinesWithWrongNumbers) {
  Readings readings;
  parseNetwork(
      "eth0: 1 2 3\n: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
      "eth1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 99999999999999999999\n",
      readings);
  EXPECT_EQ(readings.malformed, 3U);
  parseDisks("8 0 sda 1 2 3 4 5 6 7 8 9 10\n8 0 sdb 1 2 3 4 5 6 7 8 9 10 x\n8 0\n\n", readings);
  EXPECT_EQ(readings.malformed, 5U);
  EXPECT_EQ(readings.all.size(), 0U);
}

TEST(DeviceParsers, HaveLimits) {
  std::string disks, interfaces, mounts;
  for (int i = 0; i < 200; ++i) {
    const std::string number = std::to_string(i);
    disks += "259 0 nvme" + number + "n1 1 2 3 4 5 6 7 8 9 10 11\n";
    interfaces += "eth" + number + ": 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
    mounts.append("/dev/sd").append(number).append(" /mnt/").append(number).append(
        " ext4 rw 0 0\n");
  }
  Readings readings;
  parseDisks(disks, readings);
  EXPECT_EQ(readings.all.size(), kMaxDisks * 11);
  EXPECT_EQ(readings.left_out, 200 - kMaxDisks);
  readings.clear();
  parseNetwork(interfaces, readings);
  EXPECT_EQ(readings.all.size(), kMaxInterfaces * 16);
  EXPECT_EQ(readings.left_out, 200 - kMaxInterfaces);
  const Mounts found = parseMounts(mounts);
  EXPECT_EQ(found.all.size(), kMaxMounts);
  EXPECT_EQ(found.left_out, 200 - kMaxMounts);
}

constexpr std::string_view kMounts =
    "proc /proc proc rw,relatime 0 0\n"
    "/dev/nvme0n1p2 / ext4 rw,relatime 0 0\n"
    "/dev/nvme0n1p2 /var/snap ext4 rw,relatime 0 0\n"
    "server:/export /mnt/nfs nfs4 rw 0 0\n"
    "/dev/sda1 /mnt/my\\040disk\\134 xfs rw 0 0\n"
    "/dev/sdb1 /home xfs rw 0 0\n"
    "tmpfs /home tmpfs ro 0 0\n"
    "/dev/sdc1 /var/lib/docker/overlay2 ext4 rw 0 0\n"
    "/dev/sdd1 /device xfs rw 0 0\n"
    "/dev/sde1 /var/lib/docker ext4 rw 0 0\n"
    "/dev/sdf1 /mnt/nfs/disk xfs rw 0 0\n"
    "/dev/sdg1 /data/scratch xfs rw 0 0\n"
    "server:/x /data nfs rw 0 0\n"
    "sshfs /mnt/ssh fuse.sshfs rw 0 0\n";

TEST(DeviceParsers, ReadMounts) {
  const Mounts mounts = parseMounts(kMounts);
  EXPECT_EQ(mounts.malformed, 0U);
  EXPECT_THAT(mounts.all, ElementsAre(Mount{"/dev/nvme0n1p2", "/", "ext4"},
                                      Mount{"/dev/sda1", "/mnt/my disk\\", "xfs"},
                                      Mount{"/dev/sdd1", "/device", "xfs"},
                                      Mount{"/dev/sde1", "/var/lib/docker", "ext4"}));
  EXPECT_EQ(parseMounts("a b\n\n/dev/sda1 / ext4 rw").malformed, 3U);
  for (std::size_t size = 0; size < kMounts.size(); ++size) {
    const std::string cut(kMounts.substr(0, size));
    EXPECT_EQ(parseMounts(cut).malformed, cut.empty() || cut.back() == '\n' ? 0U : 1U);
  }
  expectNonsenseIsHarmless(kMounts, [](std::string_view text, Readings&) { parseMounts(text); });
}

}  // namespace
}  // namespace pingloom::agent::system::device_parsers_test
