#include "agent/system/system_reader.h"

#include <utility>

#include "agent/system/device_parsers.h"
#include "agent/system/host_parsers.h"
#include "agent/system/netstat_parser.h"
#include "common/log.h"

namespace pingloom::agent::system {
namespace {

constexpr Family kUname = {"node_uname_info",
                           "The names of the host and of its kernel, as labels.",
                           Kind::kGauge,
                           {"domainname", "machine", "nodename", "release", "sysname", "version"}};

}  // namespace

SystemReader::SystemReader(const std::filesystem::path& proc, std::filesystem::path cgroups)
    : filesystems_(proc / "self/mounts"), cgroups_mount_(std::move(cgroups)) {
  host_.push_back({KeptFile(proc / "stat"), parseStat});
  host_.push_back({KeptFile(proc / "loadavg"), parseLoad});
  host_.push_back({KeptFile(proc / "meminfo"), parseMemory});
  host_.push_back({KeptFile(proc / "vmstat"), parseVmstat});
  for (const char* name : {"cpu", "memory", "io", "irq"}) {
    pressures_.push_back({KeptFile(proc / "pressure" / name), name});
  }
  devices_.push_back({KeptFile(proc / "diskstats"), parseDisks});
  devices_.push_back({KeptFile(proc / "self/net/dev"), parseNetwork});
  devices_.push_back({KeptFile(proc / "self/net/snmp"), parseNetstat});
  devices_.push_back({KeptFile(proc / "self/net/netstat"), parseNetstat});
  devices_.push_back({KeptFile(proc / "self/net/snmp6"), parseNetstatOfIpv6});
}

void SystemReader::readName(Readings& readings) {
  if (::uname(&name_) != 0) return;
  readings.gauge(kUname, 1,
                 {name_.domainname, name_.machine, name_.nodename, name_.release, name_.sysname,
                  name_.version});
}

void SystemReader::readHost(Readings& readings) {
  readName(readings);
  for (ParsedFile& one : host_) {
    if (const auto text = one.file.read()) one.parse(*text, readings);
  }
  for (PressureFile& one : pressures_) {
    if (const auto text = one.file.read()) parsePressure(one.name, *text, readings);
  }
}

void SystemReader::readDevices(Readings& readings) {
  for (ParsedFile& one : devices_) {
    if (const auto text = one.file.read()) one.parse(*text, readings);
  }
  filesystems_.read(readings);
}

void SystemReader::readCgroups(Readings& readings) {
  const auto root = cgroupRoot(cgroups_mount_);
  if (!root) {
    if (!std::exchange(no_cgroups_logged_, true)) {
      log::warning("system metrics: {} has no cgroups of version 2, so they are left out",
                   cgroups_mount_.string());
    }
    return;
  }
  cgroups_ = findCgroups(*root);
  system::readCgroups(*root, cgroups_, cgroup_io_, readings);
}

}  // namespace pingloom::agent::system
