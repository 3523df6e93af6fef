#include "common/service_manager.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "common/log.h"
#include "common/time.h"

namespace pingloom {
namespace {

void notify(const std::string& state) {
  if (const int result = sd_notify(0, state.c_str()); result < 0) {
    log::warning("{}",
                 makeErrnoError("NOTIFY_SOCKET", "systemd was not told", -result).value().text());
  }
}

Status watch(const UniqueFd& epoll, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  if (epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
    return makeErrnoError("signals", "cannot watch them", errno);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<SystemServiceManager>> SystemServiceManager::start() {
  std::unique_ptr<SystemServiceManager> made(new SystemServiceManager);
  if (auto status = made->open(); !status) return tl::unexpected(status.error());
  return made;
}

Status SystemServiceManager::open() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  if (!signals_.valid() || !epoll_.valid()) {
    return makeErrnoError("signals", "cannot wait for them", errno);
  }
  if (auto status = watch(epoll_, signals_.get()); !status) return status;
  std::uint64_t limit_us = 0;
  if (sd_watchdog_enabled(0, &limit_us) <= 0) return {};
  watchdog_ = UniqueFd(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!watchdog_.valid()) return makeErrnoError("watchdog", "no timer", errno);
  const Nanos interval = static_cast<Nanos>(limit_us) * kMicrosecond / 2;
  itimerspec times{};
  times.it_interval = times.it_value = {interval / kSecond, interval % kSecond};
  if (timerfd_settime(watchdog_.get(), 0, &times, nullptr) != 0) {
    return makeErrnoError("watchdog", "cannot set its timer", errno);
  }
  return watch(epoll_, watchdog_.get());
}

ServiceManager::Asked SystemServiceManager::asked() {
  std::uint64_t expirations = 0;
  if (watchdog_.valid() && ::read(watchdog_.get(), &expirations, sizeof expirations) > 0) {
    notify("WATCHDOG=1");
  }
  Asked asked = Asked::kNothing;
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    if (signal.ssi_signo != SIGHUP) asked = Asked::kStop;
    if (signal.ssi_signo == SIGHUP && asked == Asked::kNothing) asked = Asked::kReload;
  }
  if (asked == Asked::kStop) notify("STOPPING=1");
  if (asked == Asked::kReload && ready_) {
    notify("RELOADING=1");
    told_ = false;
  }
  return asked;
}

void SystemServiceManager::tell(bool ready, std::string_view status) {
  ready_ = ready_ || ready;
  if (ready_ == told_ && status == status_) return;
  status_ = status;
  notify((ready_ && !told_ ? "READY=1\nSTATUS=" : "STATUS=") + status_);
  told_ = ready_;
}

}  // namespace pingloom
