#include "agent/system/cgroup_io.h"

#include "agent/system/fields.h"

namespace pingloom::agent::system {
namespace {

constexpr std::array<Family, 4> kFamilies = {
    cgroupFamily("pingloom_cgroup_io_read_bytes_total",
                 "Bytes that the cgroup's tasks read from devices."),
    cgroupFamily("pingloom_cgroup_io_written_bytes_total",
                 "Bytes that the cgroup's tasks wrote to devices."),
    cgroupFamily("pingloom_cgroup_io_reads_total", "Reads by the cgroup's tasks from devices."),
    cgroupFamily("pingloom_cgroup_io_writes_total", "Writes by the cgroup's tasks to devices.")};
constexpr std::array<std::string_view, 4> kKeys = {"rbytes", "wbytes", "rios", "wios"};
// What a kernel writes instead of the numbers of a device that it has no name for.
constexpr std::string_view kUnknownDevice = "(unknown)";

}  // namespace

// Reads a line such as "8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0". A device may have
// no numbers, and some kernels then write the next one into the same line.
bool CgroupIo::parse(std::string_view line, std::vector<Device>& devices) {
  Device device;
  device.name = takeWord(line);
  if (device.name == kUnknownDevice) return true;
  if (device.name.find(':') == std::string_view::npos) return false;
  for (std::string_view word = takeWord(line); !word.empty(); word = takeWord(line)) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) {
      if (word.find(':') == std::string_view::npos) return false;
      device.name = word;
      continue;
    }
    for (std::size_t i = 0; i < kNumbers; ++i) {
      if (word.substr(0, equals) != kKeys[i]) continue;
      const auto value = number(word.substr(equals + 1));
      if (!value) return false;
      device.numbers[i] = *value;
    }
  }
  devices.push_back(device);
  return true;
}

// A device's number that falls has begun again: it was removed and is back, or the cgroup was.
void CgroupIo::add(const Device& device, Counted& counted) {
  auto known = counted.devices.find(device.name);
  if (known == counted.devices.end()) {
    if (counted.devices.size() == kMaxDevices) return;
    known = counted.devices.emplace(device.name, Numbers{}).first;
  }
  for (std::size_t i = 0; i < kNumbers; ++i) {
    const std::uint64_t now = device.numbers[i];
    const std::uint64_t more = now >= known->second[i] ? now - known->second[i] : now;
    if (__builtin_add_overflow(counted.total[i], more, &counted.total[i])) {
      counted.total[i] = UINT64_MAX;
    }
  }
  known->second = device.numbers;
}

void CgroupIo::read(std::string_view text, const Readings::Values& labels, Readings& readings) {
  std::vector<Device> devices;
  bool right = true;
  right =
      forEachLine(text, [&](std::string_view line) { right = right && parse(line, devices); }) &&
      right;
  if (!right) {
    ++readings.malformed;
    return;
  }
  Counted& counted = cgroups_[std::string(labels[0])];
  for (const Device& device : devices) add(device, counted);
  for (std::size_t i = 0; i < kNumbers; ++i) {
    readings.count(kFamilies[i], counted.total[i], labels);
  }
}

void CgroupIo::keep(const std::vector<Cgroup>& shown) {
  std::map<std::string, Counted, std::less<>> kept;
  for (const Cgroup& cgroup : shown) {
    const auto known = cgroups_.find(cgroup.path);
    if (known != cgroups_.end()) kept.insert(cgroups_.extract(known));
  }
  cgroups_.swap(kept);
}

}  // namespace pingloom::agent::system
