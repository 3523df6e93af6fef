#include "program_cpu.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "common/file.h"
#include "shared/process_usage.h"

namespace pingloom::bench {

Nanos cpuOfProgram(std::string_view name) {
  Nanos sum = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    const auto comm = readFile(entry.path() / "comm", 64);
    if (comm && comm->substr(0, comm->find('\n')) == name) sum += usageOf(pid).cpu;
  }
  return sum;
}

}  // namespace pingloom::bench
