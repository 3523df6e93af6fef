#include "translator/reporters.h"

#include <algorithm>
#include <iterator>

namespace pingloom::translator {
namespace {

// The bytes of a socket's queue that a datagram may use. The kernel counts whole buffers, which are
// up to twice as long as the datagram, and its own records.
std::size_t chargeOf(std::size_t length) { return 2 * length + 1024; }

}  // namespace

wire::ReportRefusal Reporters::take(const wire::ReportHead& head, const SocketAddress& source,
                                    Nanos now_mono) {
  const auto found = reporters_.find(keyOf(head));
  if (found == reporters_.end()) {
    if (reporters_.size() == kMaxReporters) return wire::ReportRefusal::kUnknownReporter;
    Entry fresh{SequenceWindow(head.sequence), head.skipped, now_mono, source};
    Entry& entry = reporters_.emplace(keyOf(head), fresh).first->second;
    ++active_;
    countSkipped(head.reporter, head.skipped);
    counters_.reporters = reporters_.size();
    noteReply(head, entry, now_mono);
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
  entry.source = source;
  const std::uint32_t more = head.skipped - entry.skipped;
  if (static_cast<std::int32_t>(more) > 0) {  // an older datagram has an older count
    countSkipped(head.reporter, more);
    entry.skipped = head.skipped;
  }
  noteReply(head, entry, now_mono);
  return wire::ReportRefusal::kNone;
}

void Reporters::countSkipped(std::uint32_t reporter, std::uint32_t reports) {
  counters_.skipped += reports;
  losses_.skip(reporter, reports);
}

// Has answer() look at the reporter if there is something to tell it.
void Reporters::noteReply(const wire::ReportHead& head, Entry& entry, Nanos now_mono) {
  if ((head.flags & wire::kReportKeeps) == 0) return;
  entry.length = std::max(entry.length, head.length);
  const std::uint32_t used = entry.window.latest() - entry.credited;
  const bool first = entry.credited_at == 0;
  if (first || used >= shareOf(entry) / 4 || now_mono - entry.credited_at >= kCreditInterval) {
    entry.credit_due = true;
  }
  if (entry.credit_due && (first || used >= kUrgent) && !entry.urgent) {
    entry.urgent = true;
    urgent_.push_back(keyOf(head));
  }
  const bool gap = entry.window.missing() != 0;
  if (gap && !entry.gap) entry.fresh_gap = true;
  entry.gap = gap;
  if (entry.waiting || (!gap && !entry.credit_due)) return;
  entry.waiting = true;
  waiting_.push_back(keyOf(head));
}

bool Reporters::isToBeAsked(Entry& entry) {
  if (entry.window.missing() == 0 || entry.asked >= kMaxAsked) return false;
  if (entry.fresh_gap) {  // what is missing may just be late
    entry.fresh_gap = false;
    return false;
  }
  ++entry.asked;
  ++counters_.asked;
  return true;
}

std::uint32_t Reporters::shareOf(const Entry& entry) const {
  // The other half is for reporters that do not wait for credit.
  const std::size_t datagrams =
      buffer_bytes_ / 2 / chargeOf(entry.length) / std::max<std::size_t>(active_, 1);
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(datagrams, kMinShare, kMaxShare));
}

wire::ReportReply Reporters::replyTo(std::uint64_t key, Entry& entry, bool ask, Nanos now_mono) {
  wire::ReportReply reply;
  reply.type = ask ? wire::ReportReplyType::kNack : wire::ReportReplyType::kCredit;
  reply.reporter = reporterOf(key);
  reply.incarnation = static_cast<std::uint32_t>(key);
  reply.until = entry.window.latest() + shareOf(entry);
  reply.lost = entry.lost;
  if (ask) reply.ranges = static_cast<std::uint8_t>(entry.window.missingRanges(reply.missing));
  entry.credited = entry.window.latest();
  entry.credited_at = now_mono;
  entry.credit_due = false;
  ++counters_.replies;
  return reply;
}

void Reporters::settle(Nanos now_mono) {
  active_ = 0;
  const Nanos patience = reporters_.size() > kCrowded ? kForgetCrowdedAfter : kForgetAfter;
  for (auto at = reporters_.begin(); at != reporters_.end();) {
    Entry& entry = at->second;
    entry.window.giveUp();
    entry.asked = 0;
    const Nanos silence = now_mono - entry.seen;
    if (silence < kActive) ++active_;
    const bool silent = silence >= patience;
    if (silent) entry.window.giveUp();  // nothing stays missing
    const std::uint64_t lost = entry.window.takeLost();
    entry.lost += static_cast<std::uint32_t>(lost);
    counters_.lost += lost;
    losses_.lose(reporterOf(at->first), lost);
    at = silent ? reporters_.erase(at) : std::next(at);
  }
  counters_.reporters = reporters_.size();
}

}  // namespace pingloom::translator
