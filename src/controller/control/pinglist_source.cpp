#include "controller/control/pinglist_source.h"

#include <utility>

#include "common/log.h"

namespace pingloom::controller {

Result<std::unique_ptr<PinglistSource>> PinglistSource::open(const std::filesystem::path& file,
                                                             const pinglist::Limits& limits) {
  std::unique_ptr<PinglistSource> made(new PinglistSource(file.string(), limits));
  auto watcher = FileWatcher::create(file);
  if (!watcher) return tl::unexpected(watcher.error());
  made->watcher_ = std::move(*watcher);
  return made;
}

void PinglistSource::succeed(const PinglistSource& before) {
  loaded_utc_ = before.loaded_utc_;
  reloads_ = before.reloads_;
  rejections_ = before.rejections_;
}

std::shared_ptr<const pinglist::Pinglist> PinglistSource::load(bool at_start, Nanos now_mono,
                                                               Nanos now_utc) {
  if (!watcher_->changed(now_mono) && !at_start) return nullptr;
  auto loaded = pinglist::load(path_);
  if (!loaded) {
    ++rejections_;
    error_ = loaded.error().text();
    log::error("{}{}", error_,
               loaded_utc_ == 0 ? "; no pinglist is in force" : "; the pinglist before stays");
    return nullptr;
  }
  error_.clear();
  if (loaded_utc_ != 0) ++reloads_;
  loaded_utc_ = now_utc;
  for (const std::string& warning : loaded->warnings) log::warning("{}", warning);
  for (const std::string& beyond : beyondLimits(pinglist::costOf(*loaded), limits_)) {
    log::warning("{}: {}", path_, beyond);
  }
  log::info("{}: in force, {} probes", path_, loaded->plan.probes.size());
  return std::make_shared<const pinglist::Pinglist>(std::move(*loaded));
}

}  // namespace pingloom::controller
