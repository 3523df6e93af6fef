// A controller of our own for the benchmark, in a temporary directory, with its embedded Redis.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::bench {

// What the controller says of itself at /api/v1/status.
struct ControllerCounts {
  std::uint64_t batches_committed = 0;
  std::uint64_t batches_duplicate = 0;
  std::uint64_t rows_committed = 0;
  std::uint64_t messages_refused = 0;
};
Result<ControllerCounts> readCounts(const std::string& url);

class ControllerProcess {
 public:
  // `program`: the pingloom-controller to run.
  ControllerProcess(std::string program, std::string pinglist);
  ControllerProcess(const ControllerProcess&) = delete;
  ControllerProcess& operator=(const ControllerProcess&) = delete;
  ~ControllerProcess();  // kills it and removes the directory

  Status start();  // until it answers
  void kill();     // SIGKILL
  Status writePinglist(const std::string& text);

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  const std::string& url() const { return url_; }
  Nanos cpuTime() const;
  std::uint64_t residentBytes() const;

  // The committed history itself: batches (each holds one window here), and distinct ones.
  struct Committed {
    std::uint64_t windows = 0;
    std::uint64_t distinct = 0;
  };
  Result<Committed> committed() const;

 private:
  std::string program_;
  std::string pinglist_;
  std::filesystem::path directory_;
  std::uint16_t port_ = 0;
  std::string url_;
  pid_t pid_ = -1;
};

}  // namespace pingloom::bench
