#include "pods.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <map>
#include <thread>

namespace pingloom::bench {
namespace {

constexpr Nanos kDiscoveryInterval = 100 * kMillisecond;

Nanos cpuOfChildren() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto nanos = [](const timeval& time) {
    return time.tv_sec * kSecond + time.tv_usec * kMicrosecond;
  };
  return nanos(usage.ru_utime) + nanos(usage.ru_stime);
}

class Parent {
 public:
  Parent(const Churn& churn, const Pod& pod, const Discovery& discovery, int pipe)
      : churn_(churn), pod_(pod), discovery_(discovery), pipe_(pipe) {}

  int run() {
    const Nanos begin = monotonicNow();
    const Nanos gap = static_cast<Nanos>(static_cast<double>(kSecond) / churn_.per_second);
    for (;;) {
      const Nanos now = monotonicNow();
      const bool starting = now - begin < churn_.length;
      if (starting && now >= begin + static_cast<Nanos>(started_) * gap) {
        start();
        continue;
      }
      reap();
      discover(now);
      if (!starting && pods_.empty()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    tell(pipe_, {PodRecord::kEnd, static_cast<Nanos>(started_), cpuOfChildren()});
    return 0;
  }

 private:
  void start() {
    const Nanos started = monotonicNow();
    const std::uint64_t number = started_++;
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
      // It ends with its parent, even if that has ended just now.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      _exit(getppid() == parent ? pod_(number, started, started + churn_.life, pipe_) : 1);
    }
    if (pid < 0) return;
    pods_[pid] = number;
    alive_.insert(number);
    changed_ = true;
  }
  void reap() {
    for (;;) {
      const pid_t pid = waitpid(-1, nullptr, WNOHANG);
      if (pid <= 0) return;
      alive_.erase(pods_[pid]);
      pods_.erase(pid);
      changed_ = true;
    }
  }
  void discover(Nanos now) {
    if (!changed_ || now < next_discovery_) return;
    discovery_(alive_);
    changed_ = false;
    next_discovery_ = now + kDiscoveryInterval;
  }

  const Churn churn_;
  const Pod& pod_;
  const Discovery& discovery_;
  const int pipe_;
  std::map<pid_t, std::uint64_t> pods_;
  std::set<std::uint64_t> alive_;
  std::uint64_t started_ = 0;
  bool changed_ = false;
  Nanos next_discovery_ = 0;
};

}  // namespace

void tell(int pipe, const PodRecord& record) {
  // So few bytes are written at once or not at all.
  if (write(pipe, &record, sizeof record) != sizeof record) _exit(1);
}

Child startPods(const Churn& churn, const Pod& pod, const Discovery& discovery) {
  return Child([&](int pipe) { return Parent(churn, pod, discovery, pipe).run(); });
}

void sleepUntil(Nanos monotonic) {
  const Nanos left = monotonic - monotonicNow();
  if (left > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left));
}

}  // namespace pingloom::bench
