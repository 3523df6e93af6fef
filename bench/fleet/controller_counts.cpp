#include "controller_counts.h"

#include <sqlite3.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "common/time.h"
#include "http/client.h"

namespace pingloom::bench {

Result<ControllerCounts> readCounts(const std::string& url) {
  const auto answer = http::get(url, "/api/v1/status", 30 * kSecond);
  if (!answer) return tl::unexpected(answer.error());
  const auto json = nlohmann::json::parse(answer->body, nullptr, false);
  if (answer->status != 200 || !json.is_object() || !json.contains("control")) {
    return makeError(url, "its status cannot be read");
  }
  const auto& control = json["control"];
  return ControllerCounts{control.value("batches_committed", std::uint64_t{0}),
                          control.value("batches_duplicate", std::uint64_t{0}),
                          control.value("rows_committed", std::uint64_t{0}),
                          control.value("messages_refused", std::uint64_t{0})};
}

Result<Committed> readCommitted(const std::filesystem::path& state) {
  const std::string file = (state / "history.sqlite").string();
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(opened, sqlite3_close);
  if (code != SQLITE_OK) return makeError(file, sqlite3_errstr(code));
  sqlite3_busy_timeout(opened, 10'000);
  static constexpr const char* kQuery =
      "SELECT count(*), (SELECT count(*) FROM (SELECT DISTINCT source, incarnation, sequence "
      "FROM blocks)) FROM blocks";
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(opened, kQuery, -1, &prepared, nullptr) != SQLITE_OK) {
    return makeError(file, sqlite3_errmsg(opened));
  }
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
  if (sqlite3_step(prepared) != SQLITE_ROW) return makeError(file, sqlite3_errmsg(opened));
  return Committed{static_cast<std::uint64_t>(sqlite3_column_int64(prepared, 0)),
                   static_cast<std::uint64_t>(sqlite3_column_int64(prepared, 1))};
}

}  // namespace pingloom::bench
