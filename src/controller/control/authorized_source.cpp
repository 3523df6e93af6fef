#include "controller/control/authorized_source.h"

#include <utility>

#include "common/log.h"
#include "keys/authorized_file.h"

namespace pingloom::controller {

Result<std::unique_ptr<AuthorizedSource>> AuthorizedSource::open(
    const std::filesystem::path& file) {
  std::unique_ptr<AuthorizedSource> made(new AuthorizedSource(file));
  auto watcher = FileWatcher::create(file);
  if (!watcher) return tl::unexpected(watcher.error());
  made->watcher_ = std::move(*watcher);
  auto loaded = keys::loadAuthorizedKeys(file);
  if (!loaded) return tl::unexpected(loaded.error());
  made->current_ = std::make_shared<const keys::AuthorizedKeys>(std::move(*loaded));
  return made;
}

bool AuthorizedSource::reload(Nanos now_mono) {
  const bool changed = watcher_->changed(now_mono);
  if (changed) backoff_.reset();
  if (!changed && now_mono < retry_mono_) return false;
  auto loaded = keys::loadAuthorizedKeys(file_);
  newest_in_force_ = loaded.has_value();
  if (!loaded) {
    retry_mono_ = now_mono + backoff_.fail();
    const std::string error = loaded.error().text();
    if (changed || error != error_) log::error("{}; the keys from before stay authorised", error);
    error_ = error;
    return false;
  }
  retry_mono_ = kNever;
  current_ = std::make_shared<const keys::AuthorizedKeys>(std::move(*loaded));
  log::info("{}: in force, {} keys", file_.string(), current_->entries().size());
  return true;
}

}  // namespace pingloom::controller
