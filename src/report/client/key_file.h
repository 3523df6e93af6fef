// The file with the key that a reporter shares with its translator. Any thread.
#pragma once

#include <optional>

#include "wire/report_seal.h"

namespace pingloom::report::client {

// Reads the file, which has 32 hexadecimal digits. Returns 0, what the file could not be opened or
// read with, EPERM if it is no regular file that is closed to other users, or EINVAL for another
// content.
int readKeyFile(const char* path, std::optional<wire::ReportKey>& key);

}  // namespace pingloom::report::client
