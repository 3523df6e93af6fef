// Reads the files given to `pingloom check` and `pingloom plan`, and reports faults in them.
#pragma once

#include <string>

#include "common/error.h"

namespace pingloom::cli {

// Returns the whole text. A file above 64 MiB is an error, as docs/pinglist.md says.
Result<std::string> readInputFile(const std::string& file);

// Prints one line on standard error that begins with the place in the file, as compilers do, so
// that editors can jump to it. Returns `code`.
int failFile(const Error& error, int code);

}  // namespace pingloom::cli
