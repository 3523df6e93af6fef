// The list of authorised keys, and the join book beside it. They are loaded at the start and
// whenever one of the files changes; an invalid file leaves the previous ones in force. The control
// thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "common/backoff.h"
#include "common/error.h"
#include "common/file_watcher.h"
#include "common/time.h"
#include "keys/authorized_keys.h"
#include "keys/join_book.h"

namespace pingloom::controller {

class AuthorizedSource {
 public:
  // Returns an error if the file is invalid, because there is no previous list.
  static Result<std::unique_ptr<AuthorizedSource>> open(const std::filesystem::path& file);

  int descriptor() const { return watcher_->descriptor(); }
  int joinsDescriptor() const { return join_watcher_->descriptor(); }
  std::shared_ptr<const keys::AuthorizedKeys> current() const { return current_; }
  std::shared_ptr<const keys::JoinBook> joins() const { return joins_; }
  // Takes what the files are since this process changed them.
  void install(std::shared_ptr<const keys::AuthorizedKeys> authorized,
               std::shared_ptr<const keys::JoinBook> joins);
  // Returns true if current() or joins() has changed. Call it when a descriptor is readable, and at
  // nextDue().
  bool reload(Nanos now_mono);
  // Returns when to retry a file that could not be read, because a revocation must not wait for the
  // next edit.
  Nanos nextDue() const { return retry_mono_; }
  bool newestInForce() const { return newest_in_force_; }

 private:
  static constexpr Nanos kFirstRetry = kSecond;
  static constexpr Nanos kMaxRetry = kMinute;

  explicit AuthorizedSource(std::filesystem::path file) : file_(std::move(file)) {}
  Status load();

  const std::filesystem::path file_;
  std::unique_ptr<FileWatcher> watcher_;
  std::unique_ptr<FileWatcher> join_watcher_;
  std::shared_ptr<const keys::AuthorizedKeys> current_;
  std::shared_ptr<const keys::JoinBook> joins_;
  bool newest_in_force_ = true;
  std::string error_;  // the last error that was logged
  Nanos retry_mono_ = kNever;
  Backoff backoff_{kFirstRetry, kMaxRetry};
};

}  // namespace pingloom::controller
