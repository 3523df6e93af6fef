// A private redis-server of the controller's: on a Unix socket only, nothing on disk, started again
// when it ends, stopped with the controller and also when the controller is killed. No shell.
// The thread that starts it has to live as long as the process (it is the control thread).
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

#include "common/error.h"
#include "common/fd.h"
#include "common/time.h"

namespace pingloom::controller {

struct EmbeddedRedisOptions {
  std::string program = "redis-server";  // found in PATH
  std::filesystem::path socket;
  std::filesystem::path folder;  // where it runs, and its log lies
};

class EmbeddedRedis {
 public:
  static constexpr Nanos kFirstRestart = 100 * kMillisecond;
  static constexpr Nanos kMaxRestart = 5 * kSecond;
  static constexpr Nanos kStopTime = 2 * kSecond;  // then it is killed

  static Result<std::unique_ptr<EmbeddedRedis>> start(EmbeddedRedisOptions options);
  ~EmbeddedRedis();
  EmbeddedRedis(const EmbeddedRedis&) = delete;
  EmbeddedRedis& operator=(const EmbeddedRedis&) = delete;

  int descriptor() const { return process_.get(); }  // readable when it has ended; -1: not running
  Nanos nextDue() const { return restart_mono_; }
  // Notices its end, and starts it again when that is due.
  void run(Nanos now_mono);
  pid_t pid() const { return pid_; }

 private:
  explicit EmbeddedRedis(EmbeddedRedisOptions options) : options_(std::move(options)) {}
  Status spawn();
  bool reap(int& wait_status);

  const EmbeddedRedisOptions options_;
  pid_t pid_ = -1;
  UniqueFd process_;  // pidfd
  Nanos restart_mono_ = kNever;
  Nanos restart_after_ = kFirstRestart;
  Nanos started_mono_ = 0;
};

}  // namespace pingloom::controller
