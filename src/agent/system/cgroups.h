// The control groups of a host (cgroup v2): which ones are shown, and what their files say. What
// host_parsers.h says about lines holds for the parsers here too.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/system/readings.h"

namespace pingloom::agent::system {

class CgroupIo;

constexpr std::size_t kMaxCgroups = 512;

// Returns where version 2 is: at `mounted` or, on a host that uses both versions, at its folder
// `unified`. Returns nullopt on a host that has version 1 only.
std::optional<std::filesystem::path> cgroupRoot(const std::filesystem::path& mounted);

// The metrics of cgroups have the same labels.
constexpr Family cgroupFamily(const char* name, const char* help, Kind kind = Kind::kCounter,
                              double unit = 1) {
  return {name, help, kind, {"cgroup", "cgroup_pod_uid"}, unit};
}

struct Cgroup {
  std::string path;     // below the root: "/system.slice/ssh.service"
  std::string pod_uid;  // "" if it is in no pod
};
struct Cgroups {
  std::vector<Cgroup> shown;
  std::size_t left_out = 0;  // beyond kMaxCgroups
};

// Finds the cgroups of the first two levels, which are slices and services, and those of a third
// one below kubepods, which are pods. Each level is complete before the next one, and in order.
Cgroups findCgroups(const std::filesystem::path& root);

// Each reads a file of a cgroup, whose path and pod_uid are the labels; they outlive the readings.
void parseCgroupProcessor(std::string_view text, const Readings::Values& labels,
                          Readings& readings);
void parseCgroupMemory(std::string_view text, const Readings::Values& labels, Readings& readings);
void parseCgroupMemoryEvents(std::string_view text, const Readings::Values& labels,
                             Readings& readings);
// Reads cpu.stat, memory.current, memory.events and io.stat of each. A cgroup lacks files if it has
// no controller for them, and all of them if it has just ended.
void readCgroups(const std::filesystem::path& root, const Cgroups& cgroups, CgroupIo& io,
                 Readings& readings);

}  // namespace pingloom::agent::system
