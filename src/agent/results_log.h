// The results of closed windows as JSON lines in a local file, for those who read them on the host.
// One line is one pair; docs/results-log.md lists the fields. When a file has reached its size it
// is renamed to FILE.1, FILE.1 to FILE.2 and so on, and the oldest is deleted, so all of them take
// at most `files` times `max_bytes` plus one window. A disk that takes nothing loses lines, which
// are counted, and never stops the agent. The control thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/error.h"
#include "common/fd.h"
#include "common/yaml.h"
#include "probe/window.h"

namespace pingloom::agent {

struct ResultsLogConfig {
  std::filesystem::path path;
  std::uint64_t max_bytes = 64ULL << 20;  // of one file
  std::uint32_t files = 4;                // the one that is written and the renamed ones
};

// Reads the section, for common/config_reader.h.
Status readValue(const yaml::Node& node, ResultsLogConfig& config);

class ResultsLog {
 public:
  // Opens the file and continues it. An error says why it cannot be written.
  static Result<ResultsLog> open(const ResultsLogConfig& config);

  // Appends a line for each pair that has counts.
  void add(const probe::ClosedWindow& window);
  std::uint64_t lost() const { return lost_; }

 private:
  explicit ResultsLog(ResultsLogConfig config) : config_(std::move(config)) {}
  Status openFile();
  void rotate();
  void write(std::uint64_t lines);

  ResultsLogConfig config_;
  UniqueFd file_;
  std::uint64_t bytes_ = 0;  // of the file
  std::string text_;         // lines that are to be written
  std::uint64_t lost_ = 0;   // lines
  bool failure_logged_ = false;
};

}  // namespace pingloom::agent
