// Which of pingloom's files a text is, told by its keys. Pure; any thread.
#pragma once

#include <string_view>

#include "common/error.h"

namespace pingloom::cli {

enum class FileKind { kPinglist, kAgentConfig, kControllerConfig, kCollectorConfig };

// The error says what is wrong with a text that is none of them.
Result<FileKind> fileKindOf(std::string_view text, std::string_view file);

}  // namespace pingloom::cli
