#include "translator/intake.h"

#include <array>

#include "store/stamp.h"

namespace pingloom::translator {
namespace {

using wire::ReportRefusal;

// The kind of table for each operation, in the operations' order.
constexpr std::array<store::TableKind, wire::kReportOperations> kKinds = {
    store::TableKind::kKeyed, store::TableKind::kLists, store::TableKind::kCounters,
    store::TableKind::kPaths};

}  // namespace

void Intake::take(std::span<const std::uint8_t> datagram, const SocketAddress& source,
                  Shadow& shadow, Nanos now_mono, Nanos utc) {
  ++counters_.datagrams;
  const ReportRefusal refused = checkDatagram(datagram, source, now_mono);
  if (refused != ReportRefusal::kNone) return counters_.refuse(refused);
  const std::uint32_t stamp = store::stampAt(utc, shadow.head().made);
  while (reader_.next()) {
    ReportRefusal why = reader_.refusal();
    if (why == ReportRefusal::kNone) why = accept(shadow);
    if (why != ReportRefusal::kNone) {
      counters_.refuse(why);
    } else {
      ++counters_.accepted[static_cast<std::size_t>(reader_.report().operation) - 1];
    }
    if (pending_count_ == kMaxPending) placePending(stamp);
  }
  placePending(stamp);
}

ReportRefusal Intake::checkDatagram(std::span<const std::uint8_t> datagram,
                                    const SocketAddress& source, Nanos now_mono) {
  // Without seals nobody can tell who has sent a datagram that came from another host.
  if (!source.address.isLoopback()) return ReportRefusal::kUnknownReporter;
  const ReportRefusal malformed = reader_.open(datagram);
  if (malformed != ReportRefusal::kNone) return malformed;
  if ((reader_.head().flags & wire::kReportSealed) != 0) return ReportRefusal::kSeal;
  return reporters_.take(reader_.head(), source, now_mono);
}

ReportRefusal Intake::accept(Shadow& shadow) {
  const wire::ReportItem& report = reader_.report();
  if (report.operation == wire::ReportOperation::kKeyWrite) {
    if (ShadowTable* table = shadow.keyed(report.table)) return keyWrite(*table);
  }
  const store::Table* table = shadow.describe(report.table);
  if (table == nullptr) return ReportRefusal::kUnknownTable;
  const bool suits = table->kind == kKinds[static_cast<std::size_t>(report.operation) - 1];
  // Tables that this version does not write do not exist for it.
  return suits ? ReportRefusal::kUnknownTable : ReportRefusal::kWrongTable;
}

ReportRefusal Intake::keyWrite(ShadowTable& table) {
  const wire::ReportItem& report = reader_.report();
  if (report.value.size() > table.table().value_bytes) return ReportRefusal::kValueLength;
  pending_[pending_count_++] = {&table, table.writer().locate(report.key), report.key,
                                report.value};
  return ReportRefusal::kNone;
}

void Intake::placePending(std::uint32_t stamp) {
  for (const Pending& one : std::span(pending_).first(pending_count_)) {
    const auto placed = one.table->writer().place(one.spot, one.key, one.value, stamp);
    if (placed == store::Placed::kEvicted) ++counters_.evicted;
  }
  pending_count_ = 0;
}

}  // namespace pingloom::translator
