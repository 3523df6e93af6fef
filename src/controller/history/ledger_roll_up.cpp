#include "controller/history/ledger_roll_up.h"

#include <algorithm>

namespace pingloom::controller {

Status LedgerRollUp::prepare(Database& database) {
  return database.prepareAll(
      {{&oldest_,
        "SELECT probe, source, path, start_ns, window_ns FROM blocks WHERE minute = 0 AND start_ns "
        "< ?1 ORDER BY start_ns LIMIT 1"},
       {&group_,
        "SELECT id, incarnation, content FROM blocks WHERE probe = ?1 AND source = ?2 AND start_ns "
        ">= ?3 AND start_ns < ?4 AND path = ?5 AND window_ns = ?6 AND minute = 0 ORDER BY start_ns "
        "LIMIT ?7"},
       {&remove_, "DELETE FROM blocks WHERE id = ?1"}});
}

Result<std::size_t> LedgerRollUp::step(Nanos now_utc, BlockInsert& insert, std::uint64_t& dropped) {
  Group group;
  const auto found = findGroup((now_utc - kAge) / kMinute * kMinute, group);
  if (!found) return tl::unexpected(found.error());
  if (!*found) return std::size_t{0};
  if (auto status = collect(group, dropped); !status) return tl::unexpected(status.error());
  for (const std::int64_t id : taken_) {
    if (auto status = remove_.bind(1, id).queue(); !status) return tl::unexpected(status.error());
  }
  if (minute_.empty()) return taken_.size();
  const auto content = minute_.content();
  if (!content) return tl::unexpected(content.error());
  const BlockLine line{group.probe,    group.source, group.path,   group.begin(),
                       group.length(), true,         incarnation_, 0};
  auto status = insert.run(line, *content);
  if (!status) return tl::unexpected(status.error());
  return taken_.size();
}

Result<bool> LedgerRollUp::findGroup(Nanos before, Group& group) {
  oldest_.bind(1, before);
  auto found = oldest_.step();
  if (found && *found) {
    group = {std::string(oldest_.bytes(0)), std::string(oldest_.bytes(1)), oldest_.number(2),
             oldest_.number(3), oldest_.number(4)};
  }
  oldest_.reset();
  return found;
}

Status LedgerRollUp::collect(const Group& group, std::uint64_t& dropped) {
  minute_.clear();
  taken_.clear();
  incarnation_ = 0;
  const Nanos until = group.window < kMinute ? group.begin() + kMinute : group.start + 1;
  group_.bind(1, group.probe)
      .bindBlob(2, group.source)
      .bind(3, group.begin())
      .bind(4, until)
      .bind(5, group.path)
      .bind(6, group.window)
      .bind(7, std::int64_t{kMaxWindows});
  for (;;) {
    const auto more = group_.step();
    if (!more || !*more) {
      group_.reset();
      if (!more) return tl::unexpected(more.error());
      return {};
    }
    const bool readable = window_.open(group_.bytes(2));
    if (readable && !minute_.accepts(window_)) continue;  // it becomes another row in a later step
    taken_.push_back(group_.number(0));
    if (!readable || !minute_.add(window_)) {
      ++dropped;
      continue;
    }
    incarnation_ = std::max(incarnation_, group_.number(1));
  }
}

}  // namespace pingloom::controller
