// The thread that shares authorised keys and join tokens with the other controllers (key_sync.h).
// It looks for changes of the two files, and four times a second into the database. Any thread may
// construct and destroy.
#pragma once

#include <memory>
#include <thread>

#include "common/backoff.h"
#include "common/error.h"
#include "common/fd.h"
#include "common/file_watcher.h"
#include "common/time.h"
#include "controller/cluster/key_sync.h"

namespace pingloom::controller {

class KeyShare {
 public:
  static constexpr Nanos kInterval = 250 * kMillisecond;
  static constexpr Nanos kMaxInterval = 10 * kSecond;  // after failures

  // Fails if the files cannot be watched.
  static Result<std::unique_ptr<KeyShare>> start(KeySync::Options options);
  ~KeyShare();
  KeyShare(const KeyShare&) = delete;
  KeyShare& operator=(const KeyShare&) = delete;

 private:
  KeyShare(KeySync::Options options, std::unique_ptr<FileWatcher> list,
           std::unique_ptr<FileWatcher> joins);
  void run();
  bool waitForChange();
  bool waitAfterFailure();

  KeySync sync_;  // the thread's
  std::unique_ptr<FileWatcher> list_;
  std::unique_ptr<FileWatcher> joins_;
  Backoff backoff_{kInterval, kMaxInterval};
  UniqueFd stop_;  // eventfd
  std::thread thread_;
};

}  // namespace pingloom::controller
