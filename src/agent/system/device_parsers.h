// Parsers of /proc's files about disks, network interfaces and mounts. Pure; what host_parsers.h
// says about lines holds here too. The labels of readings are parts of the text, or of the mounts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "agent/system/readings.h"

namespace pingloom::agent::system {

// Further devices are counted in Readings::left_out.
constexpr std::size_t kMaxDisks = 128;
constexpr std::size_t kMaxInterfaces = 128;
constexpr std::size_t kMaxMounts = 64;

// Tells disks from their partitions and from devices that store elsewhere (loop, RAM, device
// mapper, MD), by the kernel's name.
bool isPhysicalDisk(std::string_view name);
// Tells whether the interface is the host's end of a container's link, which comes and goes with
// the container: veth*, cali*, lxc*.
bool isContainerInterface(std::string_view name);

void parseDisks(std::string_view text, Readings& readings);    // /proc/diskstats
void parseNetwork(std::string_view text, Readings& readings);  // /proc/net/dev

struct Mount {
  std::string device;
  std::string point;
  std::string type;

  bool operator==(const Mount&) const = default;
};

struct Mounts {
  std::vector<Mount> all;  // in the order of the file
  std::size_t left_out = 0;
  std::size_t malformed = 0;
};

// Reads /proc/self/mounts. It returns the mounts whose file system is on a local disk, so that
// statfs() does not wait for a server, each device once, at its first mount point. Mounts that
// another one covers are not seen, and those below /dev, /proc, /sys, /run/credentials and the
// folders of container runtimes are left out as by node_exporter.
Mounts parseMounts(std::string_view text);

}  // namespace pingloom::agent::system
