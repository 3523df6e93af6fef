#include "shared/process_usage.h"

#include <sys/wait.h>

#include <csignal>
#include <ctime>
#include <sstream>
#include <string>

#include "common/file.h"
#include "shared/clocks.h"
#include "shared/wait.h"

namespace pingloom::bench {
namespace {

constexpr Nanos kOrderlyEnd = 10 * kSecond;

}  // namespace

Usage usageOf(pid_t pid) {
  Usage usage;
  clockid_t clock{};
  if (clock_getcpuclockid(pid, &clock) == 0) usage.cpu = readClock(clock);
  const auto status = readFile("/proc/" + std::to_string(pid) + "/status", 1U << 16);
  std::istringstream words(status.value_or(""));
  std::uint64_t kilobytes = 0;
  for (std::string word; words >> word;) {
    if (word == "VmRSS:" && words >> kilobytes) usage.resident_bytes = kilobytes * 1024;
    if (word == "VmHWM:" && words >> kilobytes) usage.max_resident_bytes = kilobytes * 1024;
  }
  return usage;
}

void endChild(pid_t pid) {
  ::kill(pid, SIGTERM);
  const auto ended = waitUntil("a child's end", kOrderlyEnd,
                               [pid] { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
  if (ended) return;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace pingloom::bench
