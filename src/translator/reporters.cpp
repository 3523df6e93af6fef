#include "translator/reporters.h"

#include <iterator>

namespace pingloom::translator {

wire::ReportRefusal Reporters::take(const wire::ReportHead& head, const SocketAddress& source,
                                    Nanos now_mono) {
  const std::uint64_t key = keyOf(head);
  const auto found = reporters_.find(key);
  if (found == reporters_.end()) {
    if (reporters_.size() == kMaxReporters) return wire::ReportRefusal::kUnknownReporter;
    reporters_.emplace(key, Entry{SequenceWindow(head.sequence), head.skipped, now_mono, source});
    counters_.skipped += head.skipped;
    counters_.reporters = reporters_.size();
    return wire::ReportRefusal::kNone;
  }
  Entry& entry = found->second;
  switch (entry.window.take(head.sequence)) {
    case SequenceWindow::Arrival::kDuplicate:
      return wire::ReportRefusal::kDuplicate;
    case SequenceWindow::Arrival::kOld:
      return wire::ReportRefusal::kOld;
    case SequenceWindow::Arrival::kNew:
      break;
  }
  entry.seen = now_mono;
  const std::uint32_t more = head.skipped - entry.skipped;
  if (static_cast<std::int32_t>(more) > 0) {  // an older datagram has an older count
    counters_.skipped += more;
    entry.skipped = head.skipped;
  }
  if (entry.window.missing() != 0) noteGap(head, entry, source);
  return wire::ReportRefusal::kNone;
}

void Reporters::noteGap(const wire::ReportHead& head, Entry& entry, const SocketAddress& source) {
  entry.source = source;
  if (entry.listed || (head.flags & wire::kReportKeeps) == 0) return;
  entry.listed = entry.fresh_gap = true;
  gaps_.push_back(keyOf(head));
}

wire::ReportReply Reporters::requestFor(std::uint64_t key, const Entry& entry) {
  wire::ReportReply reply;
  reply.type = wire::ReportReplyType::kNack;
  reply.reporter = static_cast<std::uint32_t>(key >> 32);
  reply.incarnation = static_cast<std::uint32_t>(key);
  // There is no credit yet: whatever the reporter sends is taken.
  reply.until = entry.window.latest() + (UINT32_MAX >> 1);
  reply.ranges = static_cast<std::uint8_t>(entry.window.missingRanges(reply.missing));
  return reply;
}

void Reporters::settle(Nanos now_mono) {
  for (auto at = reporters_.begin(); at != reporters_.end();) {
    Entry& entry = at->second;
    entry.window.giveUp();
    entry.asked = 0;
    const bool silent = now_mono - entry.seen >= kForgetAfter;
    if (silent) entry.window.giveUp();  // nothing stays missing
    counters_.lost += entry.window.takeLost();
    at = silent ? reporters_.erase(at) : std::next(at);
  }
  counters_.reporters = reporters_.size();
}

}  // namespace pingloom::translator
