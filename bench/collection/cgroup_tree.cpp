#include "cgroup_tree.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

#include "page_host.h"

namespace pingloom::bench {
namespace {

namespace fs = std::filesystem;

// Writes what a service has there that has run for a while.
void writeFiles(const fs::path& cgroup, int number) {
  std::ofstream(cgroup / "cpu.stat") << fmt::format(
      "usage_usec {}\nuser_usec {}\nsystem_usec {}\ncore_sched.force_idle_usec 0\nnr_periods 1200\n"
      "nr_throttled 3\nthrottled_usec 41250\nnr_bursts 0\nburst_usec 0\n",
      812'345'678 + number, 512'345'000 + number, 300'000'678);
  std::ofstream(cgroup / "memory.current") << 104'857'600 + 4096 * number << '\n';
  std::ofstream(cgroup / "memory.events")
      << "low 0\nhigh 0\nmax 12\noom 1\noom_kill 1\noom_group_kill 0\n";
  std::ofstream(cgroup / "io.stat") << fmt::format(
      "259:0 rbytes={} wbytes=98304 rios=1200 wios=24 dbytes=0 dios=0\n"
      "8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n",
      45'678'592 + 4096 * number);
}

}  // namespace

CgroupTree::CgroupTree(int count) {
  std::string pattern = (fs::temp_directory_path() / "pingloom-cgroups-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) die(Error{pattern, "cannot be made"});
  root_ = pattern;
  std::ofstream(root_ / "cgroup.controllers") << "cpu io memory\n";
  for (int i = 0; i < count; ++i) {
    const fs::path cgroup = root_ / fmt::format("service-{:04}.slice", i);
    fs::create_directory(cgroup);
    writeFiles(cgroup, i);
  }
}

CgroupTree::~CgroupTree() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

}  // namespace pingloom::bench
