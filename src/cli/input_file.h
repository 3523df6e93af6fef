// The files that `pingloom check` and `pingloom plan` are given.
#pragma once

#include <string>

#include "common/error.h"

namespace pingloom::cli {

// Its whole text. More than 64 MiB is an error, as docs/pinglist.md says.
Result<std::string> readInputFile(const std::string& file);

// A line on standard error that begins with the place in the file, as compilers write it, so that
// editors find it. Gives `code`.
int failFile(const Error& error, int code);

}  // namespace pingloom::cli
