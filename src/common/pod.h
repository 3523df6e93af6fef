// The pod of Kubernetes, and the container in it, that a cgroup belongs to. A cgroup's path tells
// them, whether systemd or the kubelet itself makes the cgroups. Users may be allowed to make
// cgroups and choose their names, so only what a kubelet could have written is taken. Pure
// functions; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pingloom {

struct Pod {
  std::string uid;        // 36 characters, or 32 if it is the kubelet's own pod from a file
  std::string container;  // the first kContainerCharacters of its id; "" if the path has none

  static constexpr std::size_t kMaxUid = 36;
  static constexpr std::size_t kContainerCharacters = 12;  // as many as `docker ps` shows

  bool operator==(const Pod&) const = default;
};

// Tells whether the text can be a pod's uid: hexadecimal digits in lower case, as a UUID or without
// its hyphens.
bool isPodUid(std::string_view text);
// Tells whether it can be the beginning of a container's id that Pod has.
bool isContainer(std::string_view text);

// `path` is that of a cgroup, such as /kubepods/burstable/podUID/ID. It may begin with /../ where
// the reader is in a cgroup namespace. The outermost pod counts, which is that of the host's own
// kubelet. What users make below user.slice is in no pod.
std::optional<Pod> podOfCgroup(std::string_view path);

// `text` is /proc/PID/cgroup. With version 1 of cgroups a process has several; the first one that
// is in a pod counts.
std::optional<Pod> podOfProcess(std::string_view text);

}  // namespace pingloom
