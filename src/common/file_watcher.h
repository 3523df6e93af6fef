// Detects that a file was replaced, written, removed or created again: an editor's rename over it,
// a write in place, or a replaced symbolic link on its path, as Kubernetes does it. It watches
// directories with inotify, so it needs no polling, and does not notice writes of other machines to
// a network file system. Among the directories on the path only the file's own is followed when it
// is renamed, removed or created again.
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
  // Events within this time are one change, so that no half-written file is read.
  static constexpr Nanos kDebounce = 50 * kMillisecond;
  // A file that keeps changing is reported after this time.
  static constexpr Nanos kMaxDelay = 500 * kMillisecond;
  static constexpr int kMaxLinks = 40;

  // The file need not exist. Create the watcher before reading the file; otherwise a change in
  // between is missed.
  static Result<std::unique_ptr<FileWatcher>> create(const std::filesystem::path& file);

  // Becomes readable when changed() has something to do.
  int descriptor() const { return poll_.get(); }

  // Returns true once for each change of the file since the watcher was created. A removal counts
  // as a change, so that the reader can report it. `now` is monotonic time.
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
  std::map<int, Names> watches_;  // maps a watch to the relevant names in that directory
  bool exists_ = false;
  std::optional<Nanos> first_touch_;  // time of the first event that is not reported yet
  Nanos last_touch_ = 0;
};

}  // namespace pingloom
