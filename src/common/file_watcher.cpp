#include "common/file_watcher.h"

#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "common/file_route.h"

namespace pingloom {
namespace {

constexpr std::uint32_t kEvents = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB | IN_CREATE | IN_DELETE |
                                  IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF |
                                  IN_ONLYDIR;

constexpr int kMaxAttempts = 8;

// Calls use(event, name) for each waiting event.
template <typename Use>
void readEvents(int inotify, Use use) {
  alignas(inotify_event) std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t got = ::read(inotify, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      // The kernel pads the name with zeros.
      const char* name = buffer.data() + at + sizeof event;
      use(event, std::string(name, strnlen(name, event.len)));
      at += sizeof event + event.len;
    }
  }
}

}  // namespace

Result<std::unique_ptr<FileWatcher>> FileWatcher::create(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(file, error);
  if (error) return makeError(file.string(), error.message());
  std::unique_ptr<FileWatcher> made(new FileWatcher(absolute));
  if (auto status = made->open(); !status) return tl::unexpected(status.error());
  return made;
}

Status FileWatcher::open() {
  inotify_.reset(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify_.valid()) return makeErrnoError(file_.string(), "cannot be watched", errno);
  timer_.reset(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  poll_.reset(epoll_create1(EPOLL_CLOEXEC));
  for (const int fd : {inotify_.get(), timer_.get()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
      return makeErrnoError(file_.string(), "cannot be watched", errno);
    }
  }
  rewatch();
  if (watches_.empty()) return makeErrnoError(file_.string(), "cannot be watched", errno);
  exists_ = fileExists();
  return {};
}

bool FileWatcher::changed(Nanos now) {
  std::uint64_t expirations = 0;
  [[maybe_unused]] const ssize_t got = ::read(timer_.get(), &expirations, sizeof expirations);
  if (drain()) {
    touch(now);
    rewatch();
  }
  if (!first_touch_) return false;
  const Nanos due = std::min(last_touch_ + kDebounce, *first_touch_ + kMaxDelay);
  if (now < due) {
    armTimer(due - now);
    return false;
  }
  first_touch_.reset();
  const bool existed = exists_;
  exists_ = fileExists();
  return existed || exists_;  // a file that stays missing has not changed
}

// Returns true if one of the events concerns the file.
bool FileWatcher::drain() {
  bool concerns = false;
  readEvents(inotify_.get(), [&](const inotify_event& event, const std::string& name) {
    if ((event.mask & IN_Q_OVERFLOW) != 0) concerns = true;
    const auto watch = watches_.find(event.wd);
    if (watch == watches_.end()) return;
    const bool directory_gone = (event.mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF)) != 0;
    concerns = concerns || directory_gone || watch->second.contains(name);
    if ((event.mask & IN_IGNORED) != 0) watches_.erase(watch);
  });
  return concerns;
}

// Watches the present route of the path, and nothing else.
void FileWatcher::rewatch() {
  std::map<int, Names> wanted;
  // Tries again if the route changed before its watches existed, because no event would report
  // that.
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const auto route = routeTo(file_, kMaxLinks);
    for (const auto& [directory, names] : route) {
      const int watch = inotify_add_watch(inotify_.get(), directory.c_str(), kEvents);
      if (watch >= 0) wanted[watch].insert(names.begin(), names.end());
    }
    if (routeTo(file_, kMaxLinks) == route) break;
  }
  for (const auto& [watch, names] : watches_) {
    if (!wanted.contains(watch)) inotify_rm_watch(inotify_.get(), watch);
  }
  watches_ = std::move(wanted);
}

void FileWatcher::touch(Nanos now) {
  if (!first_touch_) first_touch_ = now;
  last_touch_ = now;
}

void FileWatcher::armTimer(Nanos delay) {
  itimerspec spec{};
  spec.it_value.tv_sec = delay / kSecond;
  spec.it_value.tv_nsec = delay % kSecond;
  timerfd_settime(timer_.get(), 0, &spec, nullptr);
}

bool FileWatcher::fileExists() const {
  std::error_code ignored;
  return std::filesystem::exists(file_, ignored);
}

}  // namespace pingloom
