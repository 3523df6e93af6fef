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
  auto join_watcher = FileWatcher::create(keys::joinFile(file));
  if (!join_watcher) return tl::unexpected(join_watcher.error());
  made->join_watcher_ = std::move(*join_watcher);
  if (auto loaded = made->load(); !loaded) return tl::unexpected(loaded.error());
  return made;
}

Status AuthorizedSource::load() {
  auto list = keys::loadAuthorizedKeys(file_);
  if (!list) return tl::unexpected(list.error());
  auto joins = keys::loadJoinBook(file_);
  if (!joins) return tl::unexpected(joins.error());
  install(std::make_shared<const keys::AuthorizedKeys>(std::move(*list)),
          std::make_shared<const keys::JoinBook>(std::move(*joins)));
  return {};
}

void AuthorizedSource::install(std::shared_ptr<const keys::AuthorizedKeys> authorized,
                               std::shared_ptr<const keys::JoinBook> joins) {
  current_ = std::move(authorized);
  joins_ = std::move(joins);
}

bool AuthorizedSource::reload(Nanos now_mono) {
  const bool list_changed = watcher_->changed(now_mono);
  const bool changed = join_watcher_->changed(now_mono) || list_changed;
  if (changed) backoff_.reset();
  if (!changed && now_mono < retry_mono_) return false;
  const std::size_t before = current_->entries().size();
  const auto loaded = load();
  newest_in_force_ = loaded.has_value();
  if (!loaded) {
    retry_mono_ = now_mono + backoff_.fail();
    const std::string error = loaded.error().text();
    if (changed || error != error_) log::error("{}; the keys from before stay authorised", error);
    error_ = error;
    return false;
  }
  retry_mono_ = kNever;
  const std::size_t keys = current_->entries().size();
  if (list_changed || keys != before) log::info("{}: in force, {} keys", file_.string(), keys);
  return true;
}

}  // namespace pingloom::controller
