// The pinglist file. It is loaded at the start and whenever it or the topology file that it names
// changes; an invalid file leaves the previous pinglist in force. The control thread.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/error.h"
#include "common/fd.h"
#include "common/file_watcher.h"
#include "common/time.h"
#include "pinglist/cost.h"
#include "pinglist/pinglist.h"

namespace pingloom::controller {

class PinglistSource {
 public:
  static Result<std::unique_ptr<PinglistSource>> open(const std::filesystem::path& file,
                                                      const pinglist::Limits& limits);

  int descriptor() const { return poll_.get(); }  // an epoll descriptor over both files' watchers
  // Returns the new pinglist if the file has changed and is valid. Call it once at the start, and
  // when the descriptor is readable.
  std::shared_ptr<const pinglist::Pinglist> load(bool at_start, Nanos now_mono, Nanos now_utc);

  // Continues the counters of the previous source.
  void succeed(const PinglistSource& before);

  const std::string& path() const { return path_; }
  const std::string& error() const { return error_; }  // "" if the newest file is in force
  Nanos loadedUtc() const { return loaded_utc_; }
  std::uint64_t reloads() const { return reloads_; }
  std::uint64_t rejections() const { return rejections_; }

 private:
  PinglistSource(std::string path, const pinglist::Limits& limits)
      : path_(std::move(path)), limits_(limits) {}

  Status watch(const FileWatcher& watcher);
  bool changed(Nanos now_mono);
  bool watchTopology(const std::string& file);

  const std::string path_;
  const pinglist::Limits limits_;
  UniqueFd poll_;
  std::unique_ptr<FileWatcher> watcher_;
  std::unique_ptr<FileWatcher> topology_watcher_;  // nullptr without a topology file
  std::string topology_;                           // the file that it watches
  std::string error_;
  Nanos loaded_utc_ = 0;
  std::uint64_t reloads_ = 0;
  std::uint64_t rejections_ = 0;
};

}  // namespace pingloom::controller
