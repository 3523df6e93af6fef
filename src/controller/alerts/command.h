// Runs an operator's command with a document on its standard input. Any thread; it blocks until
// the command has ended or is killed.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::controller {

struct CommandResult {
  int exit_code = 0;
  std::string output;  // what it wrote to standard output and standard error; at most kMaxOutput
};
constexpr std::size_t kMaxOutput = 64 * 1024;

// There is no shell: argv[0] is the file's path. The command and what it started are killed when it
// ends, when the time is over, and when `cancelled` is set. The error says that it could not be
// started, was killed, or took too long.
Result<CommandResult> runCommand(const std::vector<std::string>& argv, std::string_view input,
                                 Nanos timeout, const std::atomic<bool>& cancelled);

}  // namespace pingloom::controller
