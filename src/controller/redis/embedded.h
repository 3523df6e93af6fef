// The controller's private redis-server. It listens on a Unix socket only and stores nothing on
// disk. It is restarted when it exits, and stopped with the controller, also when the controller is
// killed. It is started without a shell. The thread that starts it (the control thread) must live
// as long as the process.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

#include "common/backoff.h"
#include "common/error.h"
#include "common/fd.h"
#include "common/time.h"

namespace pingloom::controller {

struct EmbeddedRedisOptions {
  std::string program = "redis-server";  // looked up in PATH
  std::filesystem::path socket;
  std::filesystem::path folder;  // its working folder, which also contains its log
};

class EmbeddedRedis {
 public:
  static constexpr Nanos kFirstRestart = 100 * kMillisecond;
  static constexpr Nanos kMaxRestart = 5 * kSecond;
  static constexpr Nanos kStopTime = 2 * kSecond;  // after this time it is killed

  static Result<std::unique_ptr<EmbeddedRedis>> start(EmbeddedRedisOptions options);
  ~EmbeddedRedis();
  EmbeddedRedis(const EmbeddedRedis&) = delete;
  EmbeddedRedis& operator=(const EmbeddedRedis&) = delete;

  // readable when it has exited; -1 if it is not running
  int descriptor() const { return process_.get(); }
  Nanos nextDue() const { return restart_mono_; }
  // Detects that it has exited, and restarts it when that is due.
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
  Backoff backoff_{kFirstRestart, kMaxRestart};
  Nanos started_mono_ = 0;
};

}  // namespace pingloom::controller
