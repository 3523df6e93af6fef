// The list of authorised keys: loaded at the start, again whenever its file changes, and kept in
// force when the new one is not valid. The control thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "common/error.h"
#include "common/file_watcher.h"
#include "common/time.h"
#include "keys/authorized_keys.h"

namespace pingloom::controller {

class AuthorizedSource {
 public:
  // An error where the file is not valid: there is no list that could stay in force.
  static Result<std::unique_ptr<AuthorizedSource>> open(const std::filesystem::path& file);

  int descriptor() const { return watcher_->descriptor(); }
  std::shared_ptr<const keys::AuthorizedKeys> current() const { return current_; }
  // True where current() is another one. Call it when the descriptor is readable, and at nextDue().
  bool reload(Nanos now_mono);
  // When a file is read again that could not be: a revocation must not wait for the next edit.
  Nanos nextDue() const { return retry_mono_; }
  bool newestInForce() const { return newest_in_force_; }

 private:
  static constexpr Nanos kFirstRetry = kSecond;
  static constexpr Nanos kMaxRetry = kMinute;

  explicit AuthorizedSource(std::filesystem::path file) : file_(std::move(file)) {}

  const std::filesystem::path file_;
  std::unique_ptr<FileWatcher> watcher_;
  std::shared_ptr<const keys::AuthorizedKeys> current_;
  bool newest_in_force_ = true;
  std::string error_;  // that was logged
  Nanos retry_mono_ = kNever;
  Nanos retry_after_ = kFirstRetry;
};

}  // namespace pingloom::controller
