// Reads the host's own metrics from /proc. A file that is missing or cannot be read leaves
// its metrics out and never keeps the rest from being read. One thread, off those that probe,
// because a file may take long.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "agent/system/kept_file.h"
#include "agent/system/readings.h"

namespace pingloom::agent::system {

class SystemReader {
 public:
  // Only tests pass another folder than /proc.
  explicit SystemReader(const std::filesystem::path& proc = "/proc");

  // Appends what is read. The readings' labels are valid until the next call.
  void readHost(Readings& readings);

 private:
  using Parser = void (*)(std::string_view text, Readings& readings);
  struct HostFile {
    KeptFile file;
    Parser parse;
  };
  struct PressureFile {
    KeptFile file;
    std::string name;
  };

  std::vector<HostFile> host_;
  std::vector<PressureFile> pressures_;
};

}  // namespace pingloom::agent::system
