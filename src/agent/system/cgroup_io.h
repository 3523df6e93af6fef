// What cgroups have read from and written to devices (io.stat of cgroup v2). The file lists the
// devices that are there, so a sum over its lines falls when one is removed. The differences of
// each device are added up here instead. What host_parsers.h says about lines holds here too.
// One thread; memory is bounded by kMaxCgroups times kMaxDevices times about 100 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/system/cgroups.h"
#include "agent/system/readings.h"

namespace pingloom::agent::system {

class CgroupIo {
 public:
  static constexpr std::size_t kMaxDevices = 256;  // of a cgroup; others are not counted

  // Reads the file of a cgroup, whose path is the first of the labels, which outlive the readings.
  // Shows nothing and counts nothing if a line is malformed. Devices that the kernel does not name
  // are left out.
  void read(std::string_view text, const Readings::Values& labels, Readings& readings);
  // Forgets the cgroups that are not among these.
  void keep(const std::vector<Cgroup>& shown);

 private:
  static constexpr std::size_t kNumbers = 4;
  using Numbers = std::array<std::uint64_t, kNumbers>;
  struct Counted {
    std::map<std::string, Numbers, std::less<>> devices;  // as they were read last
    Numbers total{};
  };
  struct Device {
    std::string_view name;
    Numbers numbers{};
  };
  static bool parse(std::string_view line, std::vector<Device>& devices);
  static void add(const Device& device, Counted& counted);

  std::map<std::string, Counted, std::less<>> cgroups_;  // by path
};

}  // namespace pingloom::agent::system
