#include "shared/child.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>

namespace pingloom::bench {

Child::Child(const std::function<int(int)>& body) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), 0) != 0) return;
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(ends[0]);
    _exit(getppid() == parent ? body(ends[1]) : 1);
  }
  ::close(ends[1]);
  in_.reset(ends[0]);
}

Child::~Child() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool Child::ended() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ <= 0;
}

bool Child::read(void* out, std::size_t size, Nanos patience) {
  const Nanos deadline = monotonicNow() + patience;
  auto* to = static_cast<std::uint8_t*>(out);
  while (size > 0) {
    const Nanos left = std::max<Nanos>(0, deadline - monotonicNow());
    pollfd ready{in_.get(), POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left / kMillisecond)) <= 0) return false;
    const ssize_t got = ::read(in_.get(), to, size);
    if (got <= 0) return false;
    to += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool Child::await(char what, Nanos patience) {
  char got = 0;
  return read(&got, 1, patience) && got == what;
}

}  // namespace pingloom::bench
