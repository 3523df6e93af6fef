#include "common/pod.h"

#include <algorithm>

namespace pingloom {
namespace {

constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kContainerId = 64;

bool isLowerHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool takePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool takeSuffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// Takes what is before the separator, and the separator, off the text.
std::string_view takeUpTo(std::string_view& text, char separator) {
  const std::string_view taken = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

// Returns the uid in the name of a cgroup, or "".
std::string uidOf(std::string_view name) {
  std::string uid;
  if (takeSuffix(name, ".slice")) {  // systemd's: kubepods-burstable-pod1234_5678.slice
    const auto at = name.rfind("-pod");
    if (at == std::string_view::npos) return {};
    uid = name.substr(at + 4);
    std::replace(uid.begin(), uid.end(), '_', '-');
    name = name.substr(0, at);
    if (!takeSuffix(name, "-burstable")) takeSuffix(name, "-besteffort");
    if (!name.ends_with("kubepods")) return {};
  } else if (takePrefix(name, "pod")) {  // the kubelet's: pod1234-5678
    uid = name;
  }
  return isPodUid(uid) ? uid : std::string();
}

// Returns the beginning of the container's id in the name of a cgroup, or "".
std::string containerOf(std::string_view name) {
  takeSuffix(name, ".scope");
  for (const std::string_view runtime : {"cri-containerd-", "crio-", "docker-"}) {
    if (takePrefix(name, runtime)) break;
  }
  if (name.size() != kContainerId || !isLowerHex(name)) return {};
  return std::string(name.substr(0, Pod::kContainerCharacters));
}

// Takes the next name off the path; "" at its end. containerd separates names by colons where its
// driver is not the kubelet's: kubepods-podUID.slice:cri-containerd:ID.
std::string_view takeName(std::string_view& path) {
  constexpr std::string_view kSeparators = "/:";
  path.remove_prefix(std::min(path.find_first_not_of(kSeparators), path.size()));
  const std::string_view name = path.substr(0, path.find_first_of(kSeparators));
  path.remove_prefix(name.size());
  return name;
}

}  // namespace

bool isPodUid(std::string_view text) {
  constexpr std::size_t kBare = 32;
  if (text.size() == kBare) return isLowerHex(text);
  if (text.size() != Pod::kMaxUid) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
    if (hyphen ? text[i] != '-' : !isLowerHex(text.substr(i, 1))) return false;
  }
  return true;
}

bool isContainer(std::string_view text) {
  return text.size() == Pod::kContainerCharacters && isLowerHex(text);
}

std::optional<Pod> podOfCgroup(std::string_view path) {
  if (path.size() > kMaxPath) return std::nullopt;
  Pod pod;
  for (std::string_view name = takeName(path); !name.empty(); name = takeName(path)) {
    if (!pod.uid.empty()) {
      pod.container = containerOf(name);
      if (!pod.container.empty()) break;
    } else {
      if (name == "user.slice") return std::nullopt;
      pod.uid = uidOf(name);
    }
  }
  if (pod.uid.empty()) return std::nullopt;
  return pod;
}

std::optional<Pod> podOfProcess(std::string_view text) {
  while (!text.empty()) {
    // A line is HIERARCHY:CONTROLLERS:PATH.
    std::string_view line = takeUpTo(text, '\n');
    takeUpTo(line, ':');
    takeUpTo(line, ':');
    if (auto pod = podOfCgroup(line)) return pod;
  }
  return std::nullopt;
}

}  // namespace pingloom
