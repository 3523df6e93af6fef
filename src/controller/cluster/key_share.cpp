#include "controller/cluster/key_share.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "common/file.h"
#include "common/log.h"
#include "keys/authorized_file.h"

namespace pingloom::controller {
namespace {

constexpr const char* kBaseFolder = "shared_keys";
constexpr std::size_t kMaxVersionText = 32;

std::filesystem::path baseList(const std::filesystem::path& authorized) {
  return authorized.parent_path() / kBaseFolder / "authorized_keys.yaml";
}

std::filesystem::path versionFile(const std::filesystem::path& authorized) {
  return authorized.parent_path() / kBaseFolder / "version";
}

std::int64_t readVersion(const std::filesystem::path& file) {
  const auto text = readFile(file, kMaxVersionText);
  std::int64_t version = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), version);
  return version;
}

}  // namespace

Status KeySync::connect() {
  if (store_ && !store_->lost()) return {};
  store_.reset();
  auto opened = KeyStore::open(options_.place);
  if (!opened) return tl::unexpected(opened.error());
  store_.emplace(std::move(*opened));
  theirs_ = {};
  return {};
}

// Without a common state nothing counts as removed.
void KeySync::loadBase() {
  base_.emplace();
  const auto file = baseList(options_.authorized);
  std::error_code missing;
  if (!std::filesystem::exists(file, missing)) return;
  auto list = keys::loadAuthorizedKeys(file);
  auto book = keys::loadJoinBook(file);
  if (list && book) {
    *base_ = {std::move(*list), std::move(*book)};
    base_version_ = readVersion(versionFile(options_.authorized));
    return;
  }
  log::warning("{}; keys that were revoked while this controller did not run may come back",
               (list ? book.error() : list.error()).text());
}

Status KeySync::saveBase() const {
  const auto file = baseList(options_.authorized);
  std::error_code failed;
  std::filesystem::create_directories(file.parent_path(), failed);
  auto status = writeFileAtomic(file, base_->authorized.text());
  if (status) status = writeFileAtomic(keys::joinFile(file), base_->book.text());
  if (!status) return status;
  return writeFileAtomic(versionFile(options_.authorized), std::to_string(base_version_) + "\n");
}

Status KeySync::step(bool changed) {
  pending_ = pending_ || changed;
  if (auto status = connect(); !status) return status;
  auto newer = store_->read(theirs_.version);
  if (!newer) return tl::unexpected(newer.error());
  // Version 0 has nothing yet, and is what is assumed before the first read.
  if (*newer) theirs_ = std::move(**newer);
  if (!*newer && !pending_) return {};
  if (!base_) loadBase();
  auto status = merge();
  pending_ = !status;
  return status;
}

Status KeySync::merge() {
  keys::KeySet made;
  const auto change = [&](keys::AuthorizedKeys& list, keys::JoinBook& book) -> Status {
    const keys::KeySet mine{list, book};
    const bool lost = theirs_.version < base_version_;
    if (lost) {
      log::warning(
          "the database has lost changes of keys (version {}, not {}); those of this controller "
          "are written again",
          theirs_.version, base_version_);
    }
    auto merged = keys::mergeKeys(lost ? theirs_.keys : *base_, mine, theirs_.keys);
    if (!merged) return tl::unexpected(merged.error());
    if (theirs_.version == 0 || !merged->sameAs(theirs_.keys)) {
      // Above all versions that anybody has seen, so that a loss is noticed once.
      const std::int64_t next = std::max(theirs_.version, base_version_) + 1;
      const auto written = store_->write(theirs_.version, next, *merged, options_.fence->held());
      if (!written) return tl::unexpected(written.error());
      if (!*written) return makeError("keys", "another controller has changed them meanwhile");
      theirs_.version = next;
      theirs_.keys = *merged;
      *base_ = mine;  // in case the files cannot be replaced: the database has it all now
    }
    list = merged->authorized;
    book = merged->book;
    made = std::move(*merged);
    return {};
  };
  // A list that is missing is not an empty one, which would revoke all keys.
  auto status = keys::changeKeyFiles(options_.authorized, false, change);
  if (!status || (base_version_ == theirs_.version && base_->sameAs(made))) return status;
  *base_ = std::move(made);
  base_version_ = theirs_.version;
  return saveBase();
}

Result<std::unique_ptr<KeyShare>> KeyShare::start(KeySync::Options options) {
  auto list = FileWatcher::create(options.authorized);
  if (!list) return tl::unexpected(list.error());
  auto joins = FileWatcher::create(keys::joinFile(options.authorized));
  if (!joins) return tl::unexpected(joins.error());
  return std::unique_ptr<KeyShare>(
      new KeyShare(std::move(options), std::move(*list), std::move(*joins)));
}

KeyShare::KeyShare(KeySync::Options options, std::unique_ptr<FileWatcher> list,
                   std::unique_ptr<FileWatcher> joins)
    : sync_(std::move(options)),
      list_(std::move(list)),
      joins_(std::move(joins)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

KeyShare::~KeyShare() {
  (void)::eventfd_write(stop_.get(), 1);
  thread_.join();
}

void KeyShare::run() {
  pthread_setname_np(pthread_self(), "keys");
  std::string logged;
  bool changed = true;
  for (;;) {
    const auto status = sync_.step(changed);
    const std::string error = status ? std::string() : status.error().text();
    if (!error.empty() && logged.empty()) {
      log::warning("keys and join tokens are not shared with the other controllers: {}", error);
    } else if (error.empty() && !logged.empty()) {
      log::info("keys and join tokens are shared with the other controllers again");
    }
    logged = error;
    if (!waitForChange()) return;
    const Nanos now = monotonicNow();
    changed = list_->changed(now);
    changed = joins_->changed(now) || changed;
  }
}

// Returns false if the thread is to end.
bool KeyShare::waitForChange() {
  std::array<pollfd, 3> descriptors{{{stop_.get(), POLLIN, 0},
                                     {list_->descriptor(), POLLIN, 0},
                                     {joins_->descriptor(), POLLIN, 0}}};
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(kInterval / kMillisecond));
  return descriptors[0].revents == 0;
}

}  // namespace pingloom::controller
