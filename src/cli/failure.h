// How a command says what is wrong: one line on standard error that begins with its name ("pingloom
// mesh"). Main thread. What is wrong in a file that is checked: input_file.h.
#pragma once

#include <string_view>

#include "cli/exit_codes.h"
#include "common/error.h"

namespace pingloom::cli {

// The command goes on.
void complain(std::string_view command, const Error& error);

// It ends: gives `code`.
int fail(std::string_view command, const Error& error, int code = kExitCouldNotAsk);

// It ends before it has begun, with a hint at its --help: gives program::kExitUsage.
int usageError(std::string_view command, const Error& error);

}  // namespace pingloom::cli
