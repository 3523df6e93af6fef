// How full the host's local file systems are. One thread, which waits for a file system whose disk
// does not answer.
#pragma once

#include <filesystem>
#include <string>

#include "agent/system/device_parsers.h"
#include "agent/system/kept_file.h"
#include "agent/system/readings.h"

namespace pingloom::agent::system {

class Filesystems {
 public:
  explicit Filesystems(std::filesystem::path mounts) : file_(std::move(mounts)) {}

  // Appends the readings of every mount that parseMounts() returns and that statfs() can be asked
  // about. Their labels are valid until the next call.
  void read(Readings& readings);

 private:
  KeptFile file_;
  std::string text_;  // what `mounts_` was parsed from
  Mounts mounts_;
};

}  // namespace pingloom::agent::system
