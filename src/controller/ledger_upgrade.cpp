#include "controller/ledger_upgrade.h"

#include <string>
#include <vector>

#include "common/log.h"
#include "controller/compression.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMostReportBytes = 16U << 20;

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
  return database.prepareAll(
      {{&newest_,
        "SELECT id, probe, source, path, start_ns, window_ns, incarnation, sequence, report FROM "
        "windows ORDER BY start_ns DESC LIMIT ?1"},
       {&remove_, "DELETE FROM windows WHERE id = ?1"},
       {&remove_old_,
        "DELETE FROM windows WHERE id IN (SELECT id FROM windows WHERE start_ns < ?1 "
        "ORDER BY start_ns LIMIT ?2)"}});
}

Status LedgerUpgrade::step(Database& database, ReportPacker& packer, Statement& insert,
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
    const auto insert_block = [&](std::string_view block) {
      return insert.bind(1, window.probe)
          .bindBlob(2, window.source)
          .bind(3, window.numbers[0])
          .bind(4, window.numbers[1])
          .bind(5, window.numbers[2])
          .bind(6, std::int64_t{0})
          .bind(7, window.numbers[3])
          .bind(8, window.numbers[4])
          .bindBlob(9, block)
          .run();
    };
    Result<bool> packed = false;
    if (decompressor.decompress(window.report, kMostReportBytes, report)) {
      packed = packer.pack(report, insert_block);
    }
    if (!packed) return tl::unexpected(packed.error());
    if (!*packed) ++dropped;
    if (auto status = remove_.bind(1, window.id).run(); !status) return status;
  }
  if (!windows.empty()) return {};
  newest_ = {};
  remove_ = {};
  remove_old_ = {};
  pending_ = false;
  return database.execute("DROP TABLE windows");
}

}  // namespace pingloom::controller
