#include "translator/placer.h"

#include <functional>

#include "store/path_change.h"
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

ReportRefusal Placer::place(const wire::ReportItem& report, Shadow& shadow, const Moment& now) {
  ShadowTable* const table = shadow.find(report.table);
  if (table == nullptr) return ReportRefusal::kUnknownTable;
  if (table->table().kind != kKinds[static_cast<std::size_t>(report.operation) - 1]) {
    return ReportRefusal::kWrongTable;
  }
  switch (report.operation) {
    case ReportOperation::kKeyWrite:
      return keyWrite(report, *table, now.stamp);
    case ReportOperation::kAppend:
      return append(report, *table);
    case ReportOperation::kKeyIncrement:
      return increment(report, *table);
    case ReportOperation::kPostcard:
      return postcard(report, *table, shadow, now);
  }
  return ReportRefusal::kOperation;
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
  addEntry(table, list, report.value);
  return ReportRefusal::kNone;
}

void Placer::addEntry(ShadowTable& table, std::uint32_t list, std::span<const std::uint8_t> entry) {
  if (table.lists()->append(list, entry)) {
    ++table.placed;
  } else {
    ++table.displaced;
    ++counters_.dropped;
  }
}

template <typename Use>
void Placer::withEvents(ShadowTable& table, Shadow& shadow, Nanos utc, Use use) {
  // One reference is captured, so that the function allocates nothing.
  const auto change = [&](const store::PathChange& changed) {
    ShadowTable* const list = shadow.pathChanges();
    if (list == nullptr) return;
    store::PathChangeEntry memory;
    const auto entry = store::encodePathChange(changed, utc, memory);
    if (entry.size() <= list->table().value_bytes) addEntry(*list, 0, entry);
  };
  store::PathWriter::Events events;
  events.changed = std::cref(change);
  use(events);
  table.displaced += events.evicted;
  counters_.evicted += events.evicted;
}

ReportRefusal Placer::postcard(const wire::ReportItem& report, ShadowTable& table, Shadow& shadow,
                               const Moment& now) {
  if (!table.paths()->takes(report.value)) return ReportRefusal::kValueLength;
  if (report.hop >= table.table().hops || report.hops > table.table().hops) {
    return ReportRefusal::kHop;
  }
  const store::Postcard postcard{report.key, report.hop, report.hops, report.value};
  withEvents(table, shadow, now.utc, [&](store::PathWriter::Events& events) {
    table.paths()->add(postcard, now.mono, now.stamp, events);
  });
  ++table.placed;
  return ReportRefusal::kNone;
}

void Placer::settlePaths(Shadow& shadow, const Moment& now) {
  for (const auto& table : shadow.tables()) {
    if (table->paths() == nullptr) continue;
    withEvents(*table, shadow, now.utc, [&](store::PathWriter::Events& events) {
      table->paths()->settle(now.mono, now.stamp, events);
    });
  }
}

ReportRefusal Placer::increment(const wire::ReportItem& report, ShadowTable& table) {
  const std::uint64_t amount = wire::loadBe64(report.value.data());
  if (auto* shared = table.shared()) {
    shared->add(report.key, amount);
  } else {
    table.counters()->add(report.key, amount);
  }
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
