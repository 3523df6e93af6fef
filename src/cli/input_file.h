// Reads the files given to `pingloom check` and `pingloom plan`, tells what they are, and reports
// faults in them.
#pragma once

#include <string>
#include <string_view>

#include "common/error.h"

namespace pingloom::cli {

// Returns the whole text. A file above 64 MiB is an error, as docs/pinglist.md says.
Result<std::string> readInputFile(const std::string& file);

enum class FileKind {
  kPinglist,
  kAgentConfig,
  kControllerConfig,
  kCollectorConfig,
  kTranslatorConfig
};
// Tells by its keys which of pingloom's files a text is. For a text that is none of them, the error
// says why. Pure; any thread.
Result<FileKind> fileKindOf(std::string_view text, std::string_view file);

// Prints one line on standard error that begins with the place in the file, as compilers do, so
// that editors can jump to it. Returns `code`.
int failFile(const Error& error, int code);

}  // namespace pingloom::cli
