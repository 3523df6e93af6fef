#include "controller/history/ledger_upgrade.h"

#include <string>
#include <vector>

#include "common/log.h"
#include "controller/history/codec/compression.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxReportBytes = 16U << 20;

struct OldWindow {
  std::int64_t id;
  std::string probe;
  std::string source;
  std::array<std::int64_t, 5> numbers;  // path, start, window, incarnation, sequence
  std::string report;
};

}  // namespace

Status LedgerUpgrade::prepare(Database& database) {
  const auto there = database.number(
      "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'windows'");
  if (!there) return tl::unexpected(there.error());
  pending_ = *there != 0;
  if (!pending_) return {};
  log::info("history of an earlier version is being packed");
  const auto index = database.number(
      "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND name = 'windows_by_source'");
  if (!index) return tl::unexpected(index.error());
  by_source_ = *index != 0;
  return database.prepareAll(
      {{&newest_,
        "SELECT id, probe, source, path, start_ns, window_ns, incarnation, sequence, report FROM "
        "windows ORDER BY start_ns DESC LIMIT ?1"},
       {&latest_,
        "SELECT incarnation, report FROM windows WHERE probe = ?1 AND source = ?2 AND start_ns = "
        "(SELECT max(start_ns) FROM windows WHERE probe = ?1 AND source = ?2)"},
       {&remove_, "DELETE FROM windows WHERE id = ?1"},
       {&remove_old_,
        "DELETE FROM windows WHERE id IN (SELECT id FROM windows WHERE start_ns < ?1 "
        "ORDER BY start_ns LIMIT ?2)"}});
}

Result<std::vector<LatestReport>> LedgerUpgrade::latest(std::string_view probe,
                                                        std::string_view source) {
  std::vector<LatestReport> found;
  if (!by_source_) return found;
  Decompressor decompressor;
  latest_.bind(1, probe).bindBlob(2, source);
  for (;;) {
    const auto more = latest_.step();
    if (!more || !*more) {
      latest_.reset();
      if (!more) return tl::unexpected(more.error());
      return found;
    }
    std::string report;
    if (!decompressor.decompress(latest_.bytes(1), kMaxReportBytes, report)) continue;
    found.push_back({static_cast<std::uint64_t>(latest_.number(0)), std::move(report)});
  }
}

Status LedgerUpgrade::step(Database& database, ReportPacker& packer, BlockInsert& insert,
                           std::uint64_t& dropped) {
  std::vector<OldWindow> windows;
  newest_.bind(1, kWindowsInAStep);
  for (;;) {
    const auto more = newest_.step();
    if (!more || !*more) {
      newest_.reset();
      if (!more) return tl::unexpected(more.error());
      break;
    }
    windows.push_back({newest_.number(0),
                       std::string(newest_.bytes(1)),
                       std::string(newest_.bytes(2)),
                       {newest_.number(3), newest_.number(4), newest_.number(5), newest_.number(6),
                        newest_.number(7)},
                       std::string(newest_.bytes(8))});
  }
  Decompressor decompressor;
  std::string report;
  for (const OldWindow& window : windows) {
    const auto [path, start, length, incarnation, sequence] = window.numbers;
    const BlockLine line{window.probe, window.source, path,        start,
                         length,       false,         incarnation, sequence};
    Result<bool> packed = false;
    if (decompressor.decompress(window.report, kMaxReportBytes, report)) {
      packed = packer.pack(report, [&](std::string_view block) { return insert.run(line, block); });
    }
    if (!packed) return tl::unexpected(packed.error());
    if (!*packed) ++dropped;
    if (auto status = remove_.bind(1, window.id).run(); !status) return status;
  }
  if (!windows.empty()) return {};
  newest_ = {};
  latest_ = {};
  remove_ = {};
  remove_old_ = {};
  pending_ = false;
  return database.execute("DROP TABLE windows");
}

}  // namespace pingloom::controller
