// Notices that a file was replaced, written, removed or has come back: an editor's rename over it,
// a write in place, a symbolic link on the way to it that was swapped (Kubernetes does that). It
// watches directories by inotify, so it needs no polling and does not see what another machine
// writes to a network file system. Of the directories on the way only the file's own is followed
// when it is renamed, removed or made again.
//
// One thread. The owner polls descriptor() for reading and then calls changed(). Bounded: one watch
// per symbolic link on the way, at most kMaxLinks, and one for the file's directory.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "common/error.h"
#include "common/fd.h"
#include "common/time.h"

namespace pingloom {

class FileWatcher {
 public:
  // Events closer together than this are one change: half a file is not read.
  static constexpr Nanos kDebounce = 50 * kMillisecond;
  // A file that never comes to rest is reported all the same.
  static constexpr Nanos kMaxDelay = 500 * kMillisecond;
  static constexpr int kMaxLinks = 40;

  // The file need not exist. Make the watcher before the file is read, or a change in between is
  // missed.
  static Result<std::unique_ptr<FileWatcher>> create(const std::filesystem::path& file);

  // Readable when changed() has something to do.
  int descriptor() const { return poll_.get(); }

  // True once for each change of the file since the watcher was made; its removal is one, so that
  // the reader finds out and says so. `now` is monotonic time.
  bool changed(Nanos now);

 private:
  using Names = std::set<std::string>;

  explicit FileWatcher(std::filesystem::path file) : file_(std::move(file)) {}
  Status open();
  bool drain();
  void rewatch();
  void touch(Nanos now);
  void armTimer(Nanos delay);
  bool fileExists() const;

  const std::filesystem::path file_;  // absolute
  UniqueFd inotify_;
  UniqueFd timer_;
  UniqueFd poll_;
  std::map<int, Names> watches_;  // watch -> the names in that directory that matter
  bool exists_ = false;
  std::optional<Nanos> first_touch_;  // of the change that is not reported yet
  Nanos last_touch_ = 0;
};

}  // namespace pingloom
