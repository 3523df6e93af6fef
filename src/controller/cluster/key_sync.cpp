#include "controller/cluster/key_sync.h"

#include <system_error>
#include <utility>

#include "common/file.h"
#include "common/log.h"
#include "controller/cluster/lease.h"
#include "keys/authorized_file.h"

namespace pingloom::controller {
namespace {

constexpr int kMaxLostRaces = 5;  // in one step

std::filesystem::path baseList(const std::filesystem::path& authorized) {
  return keys::sharedFolder(authorized) / "authorized_keys.yaml";
}

std::filesystem::path removalsFile(const std::filesystem::path& authorized) {
  return keys::sharedFolder(authorized) / "removed";
}

}  // namespace

Status KeySync::connect() {
  if (store_ && !store_->lost()) return {};
  store_.reset();
  const auto installation = rememberedInstallation(options_.state_dir);
  if (!installation) return tl::unexpected(installation.error());
  auto opened = KeyStore::open(options_.place, *installation);
  if (!opened) return tl::unexpected(opened.error());
  store_.emplace(std::move(*opened));
  theirs_ = {};
  return {};
}

// Nothing is shared before the common state can be kept: without it a key that is revoked at
// another controller could come back from here.
Status KeySync::prepareBase() {
  // The folder is removed when the list is made anew (keys/authorized_file.h).
  if (saved_ && !baseExists()) base_.reset();
  if (!base_) loadBase();
  return saved_ ? Status() : saveBase();
}

bool KeySync::baseExists() const {
  std::error_code failed;
  return std::filesystem::exists(baseList(options_.authorized), failed);
}

void KeySync::loadBase() {
  base_.emplace();
  saved_ = false;
  const auto file = baseList(options_.authorized);
  std::error_code missing;
  if (!std::filesystem::exists(file, missing)) return;
  auto list = keys::loadAuthorizedKeys(file);
  auto book = keys::loadJoinBook(file);
  const auto text = readFile(removalsFile(options_.authorized), keys::kMaxRemovedBytes);
  auto removed = text ? keys::parseRemovals(*text) : tl::unexpected(text.error());
  if (list && book && removed) {
    *base_ = {std::move(*list), std::move(*book), std::move(*removed)};
    saved_ = true;
    return;
  }
  const Error& error = !list ? list.error() : !book ? book.error() : removed.error();
  log::warning("{}; keys that were revoked while this controller did not run may come back",
               error.text());
}

Status KeySync::saveBase() {
  const auto file = baseList(options_.authorized);
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  auto status = writeFileAtomic(file, base_->authorized.text());
  if (status) status = writeFileAtomic(keys::joinFile(file), base_->book.text());
  if (status) {
    status = writeFileAtomic(removalsFile(options_.authorized), keys::removalsText(base_->removed));
  }
  saved_ = status.has_value();
  return status;
}

Result<keys::KeySet> KeySync::mine() {
  auto list = keys::loadAuthorizedKeys(options_.authorized);
  if (!list) return tl::unexpected(list.error());
  auto book = keys::loadJoinBook(options_.authorized);
  if (!book) return tl::unexpected(book.error());
  return keys::KeySet{std::move(*list), std::move(*book), {}};
}

Status KeySync::step(bool changed, Nanos now_utc) {
  pending_ = pending_ || changed;
  if (auto status = connect(); !status) return status;
  for (int races = 0; races < kMaxLostRaces; ++races) {
    auto newer = store_->read(theirs_.id);
    if (!newer) return tl::unexpected(newer.error());
    if (*newer) {
      theirs_ = std::move(**newer);
      pending_ = true;
    }
    if (!pending_ && saved_) return {};
    if (auto status = prepareBase(); !status) return status;
    const auto merged = merge(now_utc);
    if (!merged) return tl::unexpected(merged.error());
    if (*merged) return {};
  }
  return makeError("keys", "other controllers change them all the time");
}

// Returns false if another controller was faster. No lock is held while the database is waited for.
Result<bool> KeySync::merge(Nanos now_utc) {
  const auto before = mine();
  if (!before) return tl::unexpected(before.error());
  auto merged = keys::mergeKeys(*base_, *before, theirs_.keys, now_utc);
  if (!merged) return tl::unexpected(merged.error());
  if (theirs_.id.empty() || !(*merged == theirs_.keys)) {
    auto id = store_->write(theirs_.id, *merged, options_.fence->held());
    if (!id) return tl::unexpected(id.error());
    if (!*id) return false;
    theirs_ = {std::move(**id), std::move(*merged)};
  }
  pending_ = false;
  tellDropped(*before);
  // The database has all of it now, so what the files lack of it has not been removed here.
  *base_ = *before;
  base_->removed = theirs_.keys.removed;
  if (auto status = writeFiles(*before, now_utc); !status) {
    pending_ = true;
    return tl::unexpected(status.error());
  }
  *base_ = theirs_.keys;
  if (auto status = saveBase(); !status) return tl::unexpected(status.error());
  return true;
}

void KeySync::tellDropped(const keys::KeySet& before) const {
  for (const keys::AuthorizedKey& entry : before.authorized.entries()) {
    if (base_->authorized.find(entry.key) != nullptr ||
        theirs_.keys.authorized.find(entry.key) != nullptr) {
      continue;
    }
    log::warning(
        "the key {} of '{}' was revoked before and is taken off the list again; `pingloom keys "
        "authorize` makes it valid",
        entry.key.text(), entry.host.empty() ? entry.name : entry.host);
  }
}

// `before`: what the files had when they were read. What somebody has changed since is kept, and
// shared with the next step.
Status KeySync::writeFiles(const keys::KeySet& before, Nanos now_utc) {
  const auto change = [&](keys::AuthorizedKeys& list, keys::JoinBook& book) -> Status {
    if (!baseExists()) {  // what is missing in a list that was made anew has not been removed
      base_.reset();
      saved_ = false;
      return makeError(options_.authorized.string(), "was made anew meanwhile");
    }
    const keys::KeySet now{list, book, {}};
    if (now.sameLists(before)) {
      list = theirs_.keys.authorized;
      book = theirs_.keys.book;
      return {};
    }
    auto merged = keys::mergeKeys(before, now, theirs_.keys, now_utc);
    if (!merged) return tl::unexpected(merged.error());
    list = std::move(merged->authorized);
    book = std::move(merged->book);
    pending_ = true;
    return {};
  };
  return keys::changeKeyFiles(options_.authorized, false, change);
}

}  // namespace pingloom::controller
