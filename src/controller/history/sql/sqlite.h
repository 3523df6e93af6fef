// SQLite as the engine of a history (driver.h). A file is created where there is none.
#pragma once

#include <filesystem>
#include <memory>

#include "common/error.h"
#include "controller/history/sql/driver.h"

namespace pingloom::controller {

Result<std::unique_ptr<DatabaseDriver>> openSqlite(const std::filesystem::path& file);
Result<std::unique_ptr<DatabaseDriver>> openSqliteToRead(const std::filesystem::path& file);

}  // namespace pingloom::controller
