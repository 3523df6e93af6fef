// The file in which what is known about applications outlives the collector: a header, and a record
// for each group of pages with its length and checksum. A record that is damaged is left out, and
// so is all that follows a damaged length; what was in them is learned again. One thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "collector/watch/watch_shelf.h"
#include "common/error.h"
#include "common/file.h"

namespace pingloom::collector {

class WatchFileWriter {
 public:
  // The file stays as it is until commit().
  static Result<WatchFileWriter> begin(const std::filesystem::path& path);
  // `since` of what is shelved is UTC here.
  Status add(const ShelfKey& key, const Shelved& shelved);
  Status commit() { return file_.commit(); }

 private:
  explicit WatchFileWriter(AtomicFile file) : file_(std::move(file)) {}
  AtomicFile file_;
  std::string record_;
};

constexpr std::size_t kMaxWatchRecord = std::size_t{64} << 20;  // bytes
// Twice what Watcher's bounds allow; nothing behind it is read.
constexpr std::size_t kMaxWatchFile = std::size_t{1} << 30;  // bytes

// Calls `take` for each record, in the order in which they were added; `since` is UTC. Returns
// whether all of the file could be read. It is an error if there is no such file, or it is of
// another version.
Result<bool> readWatchFile(const std::filesystem::path& path,
                           const std::function<void(ShelfKey, Shelved)>& take);

}  // namespace pingloom::collector
