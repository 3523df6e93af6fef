// Reads the host's own metrics from /proc and from the cgroups' files. What is missing or cannot be
// read is left out and never keeps the rest from being read. One thread, off those that probe,
// because the kernel may take long.
#pragma once

#include <sys/utsname.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "agent/system/cgroup_io.h"
#include "agent/system/cgroups.h"
#include "agent/system/filesystems.h"
#include "agent/system/kept_file.h"
#include "agent/system/readings.h"

namespace pingloom::agent::system {

class SystemReader {
 public:
  // Only tests pass other folders.
  explicit SystemReader(const std::filesystem::path& proc = "/proc",
                        std::filesystem::path cgroups = "/sys/fs/cgroup");

  // These append what they read. The readings' labels are valid until the next call of the same
  // function.
  void readHost(Readings& readings);     // the host as a whole
  void readDevices(Readings& readings);  // disks, the network and file systems
  // Also finds the cgroups anew. It takes much longer than the others.
  void readCgroups(Readings& readings);

 private:
  using Parser = void (*)(std::string_view text, Readings& readings);
  struct ParsedFile {
    KeptFile file;
    Parser parse;
  };
  struct PressureFile {
    KeptFile file;
    std::string name;
  };

  void readName(Readings& readings);

  utsname name_{};  // the memory of labels
  std::vector<ParsedFile> host_;
  std::vector<PressureFile> pressures_;
  std::vector<ParsedFile> devices_;
  Filesystems filesystems_;
  const std::filesystem::path cgroups_mount_;
  Cgroups cgroups_;
  CgroupIo cgroup_io_;
  bool no_cgroups_logged_ = false;
};

}  // namespace pingloom::agent::system
