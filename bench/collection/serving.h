// Serving of sides.h.
#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace pingloom::bench {

inline void pinToOneCore() {
  cpu_set_t core;
  CPU_ZERO(&core);
  CPU_SET(0, &core);
  sched_setaffinity(0, sizeof core, &core);
}

inline double secondsOf(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

inline double ownCpuSeconds() { return secondsOf(CLOCK_PROCESS_CPUTIME_ID); }

template <typename Serve>
Serving::Serving(Serve serve) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[0]);
    serve([&] {
      if (write(ends[1], "r", 1) != 1) _exit(1);
    });
    for (;;) pause();
  }
  close(ends[1]);
  char byte = 0;
  if (read(ends[0], &byte, 1) != 1) {
    std::fprintf(stderr, "the serving process ended\n");
    std::exit(1);
  }
  close(ends[0]);
}

inline Serving::~Serving() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

inline double Serving::cpuSeconds() const {
  clockid_t clock = 0;
  return clock_getcpuclockid(pid_, &clock) == 0 ? secondsOf(clock) : 0;
}

}  // namespace pingloom::bench
