#include "agent/system/cgroups.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "agent/system/cgroup_io.h"
#include "agent/system/fields.h"
#include "common/fd.h"
#include "common/pod.h"

namespace pingloom::agent::system {
namespace {

namespace fs = std::filesystem;

constexpr double kMicrosecond = 1e-6;
constexpr std::size_t kMaxFileBytes = 16384;  // io.stat has a line for each disk
constexpr std::size_t kMaxFolders = 65536;    // that are looked at in one level

constexpr Family kProcessorTime =
    cgroupFamily("pingloom_cgroup_cpu_seconds_total", "Seconds for which the cgroup's tasks ran.",
                 Kind::kCounter, kMicrosecond);
constexpr Family kThrottled =
    cgroupFamily("pingloom_cgroup_cpu_throttled_seconds_total",
                 "Seconds for which the cgroup's limit kept its tasks from running.",
                 Kind::kCounter, kMicrosecond);
constexpr Family kMemoryUsed = cgroupFamily(
    "pingloom_cgroup_memory_bytes", "Memory of the cgroup, with cached files.", Kind::kGauge);
constexpr Family kOomKills =
    cgroupFamily("pingloom_cgroup_oom_kills_total",
                 "Processes of the cgroup that were killed for lack of memory.");

// Adds the number of the line that begins with `key`, if there is one.
void addNumberOf(std::string_view text, std::string_view key, const Family& family,
                 const Readings::Values& labels, Readings& readings) {
  (void)forEachLine(text, [&](std::string_view line) {
    if (takeWord(line) != key) return;
    if (const auto value = takeNumber(line)) {
      readings.count(family, *value, labels);
    } else {
      ++readings.malformed;
    }
  });
}

void countCut(std::string_view text, Readings& readings) {
  if (!text.empty() && text.back() != '\n') ++readings.malformed;
}

bool holdsPods(std::string_view path) {
  return path.starts_with("/kubepods/") || path.starts_with("/kubepods.slice/");
}

// Appends the paths of the cgroups directly below `path`, in order.
void addBelow(const fs::path& root, const std::string& path, std::vector<std::string>& found) {
  const std::size_t first = found.size();
  std::error_code failed;
  for (fs::directory_iterator at(root.native() + path, failed), end;
       !failed && at != end && found.size() < kMaxFolders; at.increment(failed)) {
    std::error_code unknown;
    if (at->is_directory(unknown)) found.push_back(path + '/' + at->path().filename().native());
  }
  std::sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end());
}

// A small file, read whole. `file` begins with a slash.
class SmallFile {
 public:
  std::optional<std::string_view> read(const fs::path& root, std::string_view path,
                                       std::string_view file) {
    name_ = root.native();
    name_ += path;
    name_ += file;
    const UniqueFd opened(::open(name_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened.valid()) return std::nullopt;
    const ssize_t got = ::read(opened.get(), text_.data(), text_.size());
    if (got < 0) return std::nullopt;
    return std::string_view(text_.data(), static_cast<std::size_t>(got));
  }

 private:
  std::string name_;
  std::array<char, kMaxFileBytes> text_{};
};

}  // namespace

std::optional<fs::path> cgroupRoot(const fs::path& mounted) {
  for (fs::path root : {mounted, mounted / "unified"}) {
    std::error_code failed;
    if (fs::exists(root / "cgroup.controllers", failed)) return root;
  }
  return std::nullopt;
}

Cgroups findCgroups(const fs::path& root) {
  constexpr int kLevels = 2;
  constexpr int kPodLevels = 3;
  Cgroups cgroups;
  std::vector<std::string> level = {""};
  for (int depth = 1; depth <= kPodLevels; ++depth) {
    std::vector<std::string> next;
    for (const std::string& path : level) {
      if (depth <= kLevels || holdsPods(path)) addBelow(root, path, next);
    }
    for (const std::string& path : next) {
      if (cgroups.shown.size() == kMaxCgroups) {
        ++cgroups.left_out;
      } else {
        cgroups.shown.push_back({path, podOfCgroup(path).value_or(Pod{}).uid});
      }
    }
    level = std::move(next);
  }
  return cgroups;
}

void parseCgroupProcessor(std::string_view text, const Readings::Values& labels,
                          Readings& readings) {
  addNumberOf(text, "usage_usec", kProcessorTime, labels, readings);
  addNumberOf(text, "throttled_usec", kThrottled, labels, readings);
  countCut(text, readings);
}

void parseCgroupMemory(std::string_view text, const Readings::Values& labels, Readings& readings) {
  const bool whole = text.ends_with('\n');
  if (whole) text.remove_suffix(1);
  const auto value = number(text);
  if (whole && value) {
    readings.gauge(kMemoryUsed, static_cast<double>(*value), labels);
  } else {
    ++readings.malformed;
  }
}

void parseCgroupMemoryEvents(std::string_view text, const Readings::Values& labels,
                             Readings& readings) {
  addNumberOf(text, "oom_kill", kOomKills, labels, readings);
  countCut(text, readings);
}

void readCgroups(const fs::path& root, const Cgroups& cgroups, CgroupIo& io, Readings& readings) {
  io.keep(cgroups.shown);
  SmallFile file;
  for (const auto& [path, pod_uid] : cgroups.shown) {
    const Readings::Values labels = {path, pod_uid};
    if (const auto text = file.read(root, path, "/cpu.stat")) {
      parseCgroupProcessor(*text, labels, readings);
    }
    if (const auto text = file.read(root, path, "/memory.current")) {
      parseCgroupMemory(*text, labels, readings);
    }
    if (const auto text = file.read(root, path, "/memory.events")) {
      parseCgroupMemoryEvents(*text, labels, readings);
    }
    if (const auto text = file.read(root, path, "/io.stat")) {
      io.read(*text, labels, readings);
    }
  }
  readings.left_out += cgroups.left_out;
}

}  // namespace pingloom::agent::system
