#include "controller/cluster/key_share.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <array>
#include <utility>

#include "common/log.h"
#include "keys/authorized_file.h"

namespace pingloom::controller {

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
  bool failing = false;
  bool changed = true;
  for (;;) {
    const auto status = sync_.step(changed, utcNow());
    if (!status && !failing) {
      log::warning("keys and join tokens are not shared with the other controllers: {}",
                   status.error().text());
    } else if (status && failing) {
      log::info("keys and join tokens are shared with the other controllers again");
    }
    failing = !status;
    if (status) backoff_.reset();
    if (!(status ? waitForChange() : waitAfterFailure())) return;
    const Nanos now = monotonicNow();
    changed = list_->changed(now);
    changed = joins_->changed(now) || changed;
  }
}

// These return false if the thread is to end.
bool KeyShare::waitForChange() {
  std::array<pollfd, 3> descriptors{{{stop_.get(), POLLIN, 0},
                                     {list_->descriptor(), POLLIN, 0},
                                     {joins_->descriptor(), POLLIN, 0}}};
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(kInterval / kMillisecond));
  return descriptors[0].revents == 0;
}

// An attempt to replace a file is a change in its folder, too, so that would end the pause.
bool KeyShare::waitAfterFailure() {
  pollfd descriptor{stop_.get(), POLLIN, 0};
  ::poll(&descriptor, 1, static_cast<int>(backoff_.fail() / kMillisecond));
  return descriptor.revents == 0;
}

}  // namespace pingloom::controller
