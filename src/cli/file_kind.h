// Tells by its keys which of pingloom's files a text is. Pure; any thread.
#pragma once

#include <string_view>

#include "common/error.h"

namespace pingloom::cli {

enum class FileKind { kPinglist, kAgentConfig, kControllerConfig, kCollectorConfig };

// For a text that is none of them, the error says why.
Result<FileKind> fileKindOf(std::string_view text, std::string_view file);

}  // namespace pingloom::cli
