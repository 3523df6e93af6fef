// Files with the key that a reporter and a translator share: 32 hexadecimal digits, which nobody
// else may read. docs/report.md explains them. Any thread.
#pragma once

#include <filesystem>

#include "common/error.h"
#include "wire/report_seal.h"

namespace pingloom::keys {

// Refuses what readSecretKey() refuses. The error never shows the contents.
Result<wire::ReportKey> readReporterKey(const std::filesystem::path& file);

// Writes a random key into a new file of mode 0600.
Status makeReporterKey(const std::filesystem::path& file);

}  // namespace pingloom::keys
