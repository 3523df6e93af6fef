#include "agent/system/device_parsers.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "agent/system/fields.h"

namespace pingloom::agent::system {
namespace {

constexpr double kMilli = 1e-3;
constexpr double kSector = 512;

constexpr Family diskCounter(const char* name, const char* help, double unit = 1) {
  return {name, help, Kind::kCounter, {"device"}, unit};
}

// In the order of the file's columns. Older kernels lack the last four, or the last two.
constexpr std::array kDiskColumns = {
    diskCounter("node_disk_reads_completed_total", "Reads that were completed."),
    diskCounter("node_disk_reads_merged_total", "Reads that were merged with others."),
    diskCounter("node_disk_read_bytes_total", "Bytes that were read.", kSector),
    diskCounter("node_disk_read_time_seconds_total", "Seconds that all reads took.", kMilli),
    diskCounter("node_disk_writes_completed_total", "Writes that were completed."),
    diskCounter("node_disk_writes_merged_total", "Writes that were merged with others."),
    diskCounter("node_disk_written_bytes_total", "Bytes that were written.", kSector),
    diskCounter("node_disk_write_time_seconds_total", "Seconds that all writes took.", kMilli),
    Family{"node_disk_io_now", "Requests in flight.", Kind::kGauge, {"device"}},
    diskCounter("node_disk_io_time_seconds_total", "Seconds with requests in flight.", kMilli),
    diskCounter("node_disk_io_time_weighted_seconds_total",
                "Seconds with requests in flight, times the number of these.", kMilli),
    diskCounter("node_disk_discards_completed_total", "Discards that were completed."),
    diskCounter("node_disk_discards_merged_total", "Discards that were merged with others."),
    diskCounter("node_disk_discarded_sectors_total", "Sectors that were discarded."),
    diskCounter("node_disk_discard_time_seconds_total", "Seconds that all discards took.", kMilli),
    diskCounter("node_disk_flush_requests_total", "Flushes that were completed."),
    diskCounter("node_disk_flush_requests_time_seconds_total", "Seconds that all flushes took.",
                kMilli),
};
constexpr std::size_t kMinDiskColumns = 11;

constexpr Family networkCounter(const char* name, const char* help) {
  return {name, help, Kind::kCounter, {"device"}};
}

// In the order of the file's columns, all of which every kernel has.
constexpr std::array kNetworkColumns = {
    networkCounter("node_network_receive_bytes_total", "Bytes that were received."),
    networkCounter("node_network_receive_packets_total", "Packets that were received."),
    networkCounter("node_network_receive_errs_total", "Packets with errors that were received."),
    networkCounter("node_network_receive_drop_total", "Received packets that were dropped."),
    networkCounter("node_network_receive_fifo_total", "Overruns of the receive queue."),
    networkCounter("node_network_receive_frame_total", "Received frames with framing errors."),
    networkCounter("node_network_receive_compressed_total", "Compressed packets received."),
    networkCounter("node_network_receive_multicast_total", "Multicast packets received."),
    networkCounter("node_network_transmit_bytes_total", "Bytes that were sent."),
    networkCounter("node_network_transmit_packets_total", "Packets that were sent."),
    networkCounter("node_network_transmit_errs_total", "Packets that could not be sent."),
    networkCounter("node_network_transmit_drop_total", "Packets dropped before they were sent."),
    networkCounter("node_network_transmit_fifo_total", "Overruns of the transmit queue."),
    networkCounter("node_network_transmit_colls_total", "Collisions."),
    networkCounter("node_network_transmit_carrier_total", "Losses of the carrier."),
    networkCounter("node_network_transmit_compressed_total", "Compressed packets sent."),
};

constexpr auto kLocalTypes =
    std::to_array<std::string_view>({"bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs",
                                     "jfs", "ntfs3", "reiserfs", "vfat", "xfs", "zfs"});

template <std::size_t kSize>
bool startsWithAny(std::string_view text, const std::array<std::string_view, kSize>& all) {
  return std::any_of(all.begin(), all.end(),
                     [text](std::string_view one) { return text.starts_with(one); });
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// Returns the name without the digits at its end.
std::string_view withoutNumber(std::string_view name) {
  while (!name.empty() && isDigit(name.back())) name.remove_suffix(1);
  return name;
}

// Reads so many numbers; returns how many there were, or nullopt if one is wrong.
template <std::size_t kSize>
std::optional<std::size_t> takeNumbers(std::string_view line,
                                       std::array<std::uint64_t, kSize>& out) {
  for (std::size_t i = 0; i < kSize; ++i) {
    const std::string_view word = takeWord(line);
    if (word.empty()) return i;
    const auto value = number(word);
    if (!value) return std::nullopt;
    out[i] = *value;
  }
  return kSize;
}

template <std::size_t kSize>
void addColumns(const std::array<Family, kSize>& families,
                const std::array<std::uint64_t, kSize>& values, std::size_t columns,
                std::string_view device, Readings& readings) {
  for (std::size_t i = 0; i < columns; ++i) {
    if (families[i].kind == Kind::kCounter) {
      readings.count(families[i], values[i], {device});
    } else {
      readings.gauge(families[i], static_cast<double>(values[i]), {device});
    }
  }
}

// The kernel writes blanks and backslashes in names as \040 and so on.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto octal = [&](std::size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '7';
    };
    if (text[i] == '\\' && octal(i + 1) && octal(i + 2) && octal(i + 3) && text[i + 1] <= '3') {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Points are still as in the file.
bool isBelow(std::string_view point, std::string_view folder) {
  if (folder == "/") return point.size() > 1;
  return point.starts_with(folder) && point.size() > folder.size() && point[folder.size()] == '/';
}

bool isHiddenPoint(std::string_view point) {
  static constexpr auto kFolders = std::to_array<std::string_view>({"/dev", "/proc", "/sys"});
  // A disk may be mounted here; what is below belongs to containers.
  static constexpr auto kContents = std::to_array<std::string_view>(
      {"/run/credentials", "/var/lib/docker", "/var/lib/containers/storage"});
  const auto below = [point](std::string_view folder) { return isBelow(point, folder); };
  return std::find(kFolders.begin(), kFolders.end(), point) != kFolders.end() ||
         std::any_of(kFolders.begin(), kFolders.end(), below) ||
         std::any_of(kContents.begin(), kContents.end(), below);
}

struct MountLine {
  std::string_view device, point, type;
};

// Whether another mount hides this one, or whether the way to it leads through a file system that
// may not answer.
bool isOutOfReach(const std::vector<MountLine>& lines, std::size_t number) {
  static constexpr auto kRemoteTypes = std::to_array<std::string_view>(
      {"9p", "afs", "beegfs", "ceph", "cifs", "fuse", "glusterfs", "gpfs", "lustre", "nfs", "smb"});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == number || !isBelow(lines[number].point, lines[i].point)) continue;
    if (i > number && lines[i].point != "/") return true;
    if (startsWithAny(lines[i].type, kRemoteTypes)) return true;
  }
  return false;
}

}  // namespace

bool isPhysicalDisk(std::string_view name) {
  static constexpr auto kElsewhere = std::to_array<std::string_view>(
      {"loop", "ram", "zram", "dm-", "md", "fd", "sr", "nbd", "drbd"});
  if (startsWithAny(name, kElsewhere)) return false;
  const std::string_view base = withoutNumber(name);
  if (base.size() == name.size()) return !name.empty();  // sda, vdb
  // nvme0n1p2 and mmcblk0p1 are partitions of nvme0n1 and mmcblk0, and sda1 is one of sda.
  if (base.size() > 1 && base.back() == 'p' && isDigit(base[base.size() - 2])) return false;
  static constexpr auto kLettered = std::to_array<std::string_view>({"sd", "hd", "vd", "xvd"});
  return !startsWithAny(name, kLettered);
}

bool isContainerInterface(std::string_view name) {
  static constexpr auto kPrefixes = std::to_array<std::string_view>({"veth", "cali", "lxc"});
  return startsWithAny(name, kPrefixes);
}

void parseDisks(std::string_view text, Readings& readings) {
  std::size_t disks = 0;
  const bool whole = forEachLine(text, [&](std::string_view line) {
    (void)takeWord(line);  // the device's number
    (void)takeWord(line);
    const std::string_view name = takeWord(line);
    if (!isPhysicalDisk(name)) return;
    std::array<std::uint64_t, kDiskColumns.size()> values{};
    const auto columns = takeNumbers(line, values);
    if (!columns || *columns < kMinDiskColumns) {
      ++readings.malformed;
    } else if (disks == kMaxDisks) {
      ++readings.left_out;
    } else {
      ++disks;
      addColumns(kDiskColumns, values, *columns, name, readings);
    }
  });
  if (!whole) ++readings.malformed;
}

void parseNetwork(std::string_view text, Readings& readings) {
  std::size_t interfaces = 0;
  const bool whole = forEachLine(text, [&](std::string_view line) {
    // A name may contain a colon, but the numbers after it do not.
    const auto colon = line.rfind(':');
    if (colon == std::string_view::npos) return;  // the two lines of the head
    std::string_view rest = line.substr(0, colon);
    const std::string_view name = takeWord(rest);
    if (isContainerInterface(name)) return;
    std::array<std::uint64_t, kNetworkColumns.size()> values{};
    const auto columns = takeNumbers(line.substr(colon + 1), values);
    if (name.empty() || columns != kNetworkColumns.size()) {
      ++readings.malformed;
    } else if (interfaces == kMaxInterfaces) {
      ++readings.left_out;
    } else {
      ++interfaces;
      addColumns(kNetworkColumns, values, *columns, name, readings);
    }
  });
  if (!whole) ++readings.malformed;
}

Mounts parseMounts(std::string_view text) {
  Mounts mounts;
  std::vector<MountLine> lines;
  std::unordered_map<std::string_view, std::size_t> at_point;
  const bool whole = forEachLine(text, [&](std::string_view line) {
    MountLine one;
    one.device = takeWord(line);
    one.point = takeWord(line);
    one.type = takeWord(line);
    if (one.type.empty()) {
      ++mounts.malformed;
      return;
    }
    const auto [seen, is_new] = at_point.emplace(one.point, lines.size());
    if (is_new) {
      lines.push_back(one);
    } else {
      lines[seen->second] = one;  // it covers the other
    }
  });
  if (!whole) ++mounts.malformed;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const MountLine& one = lines[i];
    if (std::find(kLocalTypes.begin(), kLocalTypes.end(), one.type) == kLocalTypes.end()) continue;
    if (isHiddenPoint(one.point) || isOutOfReach(lines, i)) continue;
    Mount mount{unescaped(one.device), unescaped(one.point), std::string(one.type)};
    const bool known = std::any_of(mounts.all.begin(), mounts.all.end(), [&](const Mount& other) {
      return other.device == mount.device;
    });
    if (known) continue;
    if (mounts.all.size() == kMaxMounts) {
      ++mounts.left_out;
    } else {
      mounts.all.push_back(std::move(mount));
    }
  }
  return mounts;
}

}  // namespace pingloom::agent::system
