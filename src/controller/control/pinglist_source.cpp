#include "controller/control/pinglist_source.h"

#include <sys/epoll.h>

#include <cerrno>
#include <utility>

#include "common/log.h"

namespace pingloom::controller {

Result<std::unique_ptr<PinglistSource>> PinglistSource::open(const std::filesystem::path& file,
                                                             const pinglist::Limits& limits) {
  std::unique_ptr<PinglistSource> made(new PinglistSource(file.string(), limits));
  auto watcher = FileWatcher::create(file);
  if (!watcher) return tl::unexpected(watcher.error());
  made->watcher_ = std::move(*watcher);
  made->poll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (auto status = made->watch(*made->watcher_); !status) return tl::unexpected(status.error());
  return made;
}

Status PinglistSource::watch(const FileWatcher& watcher) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(poll_.get(), EPOLL_CTL_ADD, watcher.descriptor(), &event) == 0) return {};
  return makeErrnoError(path_, "cannot be watched", errno);
}

bool PinglistSource::changed(Nanos now_mono) {
  const bool pinglist = watcher_->changed(now_mono);
  const bool topology = topology_watcher_ != nullptr && topology_watcher_->changed(now_mono);
  return pinglist || topology;
}

// Returns true if the file was not watched before, so that it may have changed since it was read.
bool PinglistSource::watchTopology(const std::string& file) {
  if (file == topology_) return false;
  topology_ = file;
  topology_watcher_.reset();  // which closes its descriptor, and so leaves the epoll set
  if (file.empty()) return false;
  auto watcher = FileWatcher::create(file);
  const Status status = watcher ? watch(**watcher) : tl::unexpected(watcher.error());
  if (!status) {
    log::warning("{}; changes of it count when the pinglist is saved", status.error().text());
    return false;
  }
  topology_watcher_ = std::move(*watcher);
  return true;
}

void PinglistSource::succeed(const PinglistSource& before) {
  loaded_utc_ = before.loaded_utc_;
  reloads_ = before.reloads_;
  rejections_ = before.rejections_;
}

std::shared_ptr<const pinglist::Pinglist> PinglistSource::load(bool at_start, Nanos now_mono,
                                                               Nanos now_utc) {
  if (!changed(now_mono) && !at_start) return nullptr;
  auto loaded = pinglist::load(path_);
  if (loaded && watchTopology(loaded->topology.file)) loaded = pinglist::load(path_);
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
