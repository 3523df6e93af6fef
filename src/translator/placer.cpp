#include "translator/placer.h"

#include "wire/big_endian.h"

namespace pingloom::translator {
namespace {

using wire::ReportOperation;
using wire::ReportRefusal;

// The kind of table for each operation, in the operations' order.
constexpr std::array<store::TableKind, wire::kReportOperations> kKinds = {
    store::TableKind::kKeyed, store::TableKind::kLists, store::TableKind::kCounters,
    store::TableKind::kPaths};

}  // namespace

ReportRefusal Placer::place(const wire::ReportItem& report, Shadow& shadow, std::uint32_t stamp) {
  ShadowTable* const table = shadow.find(report.table);
  if (table == nullptr) return ReportRefusal::kUnknownTable;
  if (table->table().kind != kKinds[static_cast<std::size_t>(report.operation) - 1]) {
    return ReportRefusal::kWrongTable;
  }
  switch (report.operation) {
    case ReportOperation::kKeyWrite:
      return keyWrite(report, *table, stamp);
    case ReportOperation::kAppend:
      return append(report, *table);
    case ReportOperation::kKeyIncrement:
      return increment(report, *table);
    default:
      return ReportRefusal::kUnknownTable;
  }
}

ReportRefusal Placer::keyWrite(const wire::ReportItem& report, ShadowTable& table,
                               std::uint32_t stamp) {
  if (report.value.size() > table.table().value_bytes) return ReportRefusal::kValueLength;
  if (pending_count_ == kMaxPending) finish(stamp);
  pending_[pending_count_++] = {&table, table.keyed()->locate(report.key), report.key,
                                report.value};
  return ReportRefusal::kNone;
}

ReportRefusal Placer::append(const wire::ReportItem& report, ShadowTable& table) {
  if (report.value.size() > table.table().value_bytes) return ReportRefusal::kValueLength;
  const std::uint32_t list = report.key.empty() ? 0 : wire::loadBe32(report.key.data());
  if (list >= table.table().lists) return ReportRefusal::kList;
  if (table.lists()->append(list, report.value)) {
    ++table.placed;
  } else {
    ++table.displaced;
    ++counters_.dropped;
  }
  return ReportRefusal::kNone;
}

ReportRefusal Placer::increment(const wire::ReportItem& report, ShadowTable& table) {
  table.counters()->add(report.key, wire::loadBe64(report.value.data()));
  return ReportRefusal::kNone;
}

void Placer::finish(std::uint32_t stamp) {
  for (const Pending& one : std::span(pending_).first(pending_count_)) {
    const auto placed = one.table->keyed()->place(one.spot, one.key, one.value, stamp);
    ++one.table->placed;
    if (placed != store::Placed::kEvicted) continue;
    ++one.table->displaced;
    ++counters_.evicted;
  }
  pending_count_ = 0;
}

}  // namespace pingloom::translator
