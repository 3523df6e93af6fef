// Preloaded, it shows a program and its children a wall clock that is set while they run:
// CLOCK_REALTIME is the kernel's and the seconds in the file that PINGLOOM_TEST_CLOCK names (8
// bytes, native). CLOCK_MONOTONIC, waits and timers on it stay as they are, as when an
// administrator sets the clock. Time stamps of packets are the kernel's.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

const volatile std::int64_t* offset = nullptr;

__attribute__((constructor)) void openOffset() {
  const char* path = std::getenv("PINGLOOM_TEST_CLOCK");
  const int fd = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  void* memory = mmap(nullptr, sizeof *offset, PROT_READ, MAP_SHARED, fd, 0);
  if (memory != MAP_FAILED) offset = static_cast<const std::int64_t*>(memory);
  close(fd);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const auto result = static_cast<int>(syscall(SYS_clock_gettime, clock, now));
  const bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (result == 0 && wall && offset != nullptr) now->tv_sec += *offset;
  return result;
}

int gettimeofday(timeval* now, void* /*zone*/) noexcept {
  timespec exact{};
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* where) noexcept {
  timespec exact{};
  if (clock_gettime(CLOCK_REALTIME, &exact) != 0) return -1;
  if (where != nullptr) *where = exact.tv_sec;
  return exact.tv_sec;
}

}  // extern "C"
