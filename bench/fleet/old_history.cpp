#include "old_history.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <tuple>

#include "controller/history/ledger.h"
#include "controller/history/ledger_roll_up.h"
#include "controller/history/sql/database.h"
#include "fleet.h"

namespace pingloom::bench {
namespace {

using controller::Database;
using controller::Ledger;
using controller::LedgerRollUp;

// Commits a window of each agent as the controller does.
Status commitWindow(Ledger& ledger, const FleetShape& shape, std::uint32_t agents, Nanos start,
                    std::uint64_t sequence) {
  for (std::uint32_t agent = 0; agent < agents; ++agent) {
    const IpAddress source = agentAddress(agent);
    const auto index = static_cast<std::uint64_t>(start / shape.window);
    const auto report =
        std::make_shared<const std::string>(reportOf(shape, source, index, shape.row_bytes));
    controller::LedgerBatch batch{"old-" + source.text(), {1, sequence}, {}, report,
                                  report->size(),         shape.rows};
    batch.windows.push_back({kProbeName, source, start, shape.window, index, 0, *report});
    if (auto status = ledger.commit({&batch, 1}, utcNow()); !status) return status;
  }
  return {};
}

// Copies the blocks that begin at `from` to so many later times.
Status repeat(Database& database, Nanos from, Nanos step, std::int64_t times) {
  auto copy = database.prepare(
      "INSERT INTO blocks(probe, source, path, start_ns, window_ns, minute, incarnation, sequence, "
      "content) SELECT probe, source, path, start_ns + ?1, window_ns, minute, incarnation, "
      "sequence, content FROM blocks WHERE start_ns = ?2");
  if (!copy) return tl::unexpected(copy.error());
  for (std::int64_t i = 1; i <= times; ++i) {
    if (auto status = copy->bind(1, i * step).bind(2, from).run(); !status) return status;
  }
  return {};
}

Nanos minuteOf(Nanos utc) { return utc / kMinute * kMinute; }

}  // namespace

Status makeOldHistory(const std::filesystem::path& file, const FleetShape& shape,
                      std::uint32_t agents, Nanos begins_utc, Nanos lasts) {
  const Nanos oldest_minute = minuteOf(begins_utc - kOldRetention) + kMinute;
  const Nanos oldest_window = minuteOf(begins_utc - LedgerRollUp::kAge - kMinute) + kMinute;
  const Nanos spare = 2 * kMinute;
  {
    auto ledger = Ledger::open({file, 2 * kOldRetention, 1ULL << 40}, utcNow());
    if (!ledger) return tl::unexpected(ledger.error());
    const auto in_minute = static_cast<std::uint64_t>(kMinute / shape.window);
    for (std::uint64_t i = 0; i < in_minute; ++i) {
      const Nanos start = oldest_minute + static_cast<Nanos>(i) * shape.window;
      if (auto status = commitWindow(**ledger, shape, agents, start, 1 + i); !status) return status;
    }
    Result<std::size_t> rolled = 1;
    while (rolled && *rolled > 0) rolled = (*ledger)->rollUp(utcNow());
    if (!rolled) return tl::unexpected(rolled.error());
    auto status = commitWindow(**ledger, shape, agents, oldest_window, 1 + in_minute);
    if (!status) return status;
  }
  auto database = Database::open(file);
  if (!database) return tl::unexpected(database.error());
  auto status = repeat(*database, oldest_minute, kMinute, (lasts + spare) / kMinute);
  if (!status) return status;
  return repeat(*database, oldest_window, shape.window, (lasts + spare) / shape.window);
}

Result<OldBlocks> countOld(const std::filesystem::path& file, Nanos now_utc) {
  auto database = Database::openToRead(file);
  if (!database) return tl::unexpected(database.error());
  OldBlocks found;
  const std::tuple<int, Nanos, std::uint64_t*> kinds[] = {
      {0, now_utc - kHour, &found.windows},
      {0, minuteOf(now_utc - LedgerRollUp::kAge), &found.due},
      {1, now_utc - kOldRetention + kHour / 2, &found.minutes}};
  for (const auto& [minute, before, count] : kinds) {
    const auto blocks = database->number(
        fmt::format("SELECT count(*) FROM blocks WHERE minute = {} AND start_ns < {}", minute,
                    before)
            .c_str());
    if (!blocks) return tl::unexpected(blocks.error());
    *count = static_cast<std::uint64_t>(*blocks);
  }
  return found;
}

}  // namespace pingloom::bench
