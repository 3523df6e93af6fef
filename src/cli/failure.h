// Reports a command's error as one line on standard error that begins with the command's name
// ("pingloom mesh"). Main thread. input_file.h reports faults in files that are checked.
#pragma once

#include <string_view>

#include "cli/exit_codes.h"
#include "common/error.h"

namespace pingloom::cli {

// Reports the error; the command continues.
void complain(std::string_view command, const Error& error);

// Reports the error and returns `code`, with which the command ends.
int fail(std::string_view command, const Error& error, int code = kExitCouldNotAsk);

// Reports wrong usage, points to --help, and returns program::kExitUsage.
int usageError(std::string_view command, const Error& error);

}  // namespace pingloom::cli
