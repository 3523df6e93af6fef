#include "store/table_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "common/random.h"
#include "store/path_change.h"

namespace pingloom::store {
namespace {

constexpr std::uint16_t kKeyedWays = 4;
constexpr std::uint16_t kKeyedChoices = 2;
constexpr std::uint16_t kCounterRows = 2;
// Slots of paths have as many hops as there is room for.
constexpr std::uint32_t kIpv4SlotBytes = 64;
constexpr std::uint32_t kIpv6SlotBytes = 256;
constexpr std::uint16_t kIpv4Hops = 6;

std::uint64_t roundUp(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

Result<Table> describeKeyed(const TableSpec& spec) {
  const std::string entity = "table " + spec.name;
  if (spec.slots < 1 || spec.slots > kMaxSlots) {
    return makeError(entity, fmt::format("1 to {} slots", kMaxSlots));
  }
  if (spec.value_bytes < 1 || spec.value_bytes > kMaxValueBytes) {
    return makeError(entity, fmt::format("values of 1 to {} bytes", kMaxValueBytes));
  }
  if (spec.copies > kMaxChoices) {
    return makeError(entity, fmt::format("at most {} copies", kMaxChoices));
  }
  Table table;
  const auto slot = std::bit_ceil(static_cast<std::uint32_t>(kSlotHeadBytes) + spec.value_bytes);
  table.flags = spec.copies != 0 ? kCopies : 0;
  table.ways = spec.copies != 0 ? 1 : kKeyedWays;
  table.choices = spec.copies != 0 ? spec.copies : kKeyedChoices;
  table.unit_bytes = table.ways * std::max<std::uint32_t>(slot, kMinSlotBytes);
  table.units = roundUp(spec.slots, table.ways) / table.ways;
  return table;
}

Result<Table> describePaths(const TableSpec& spec) {
  if (spec.slots < 1 || spec.slots > kMaxSlots) {
    return makeError("table " + spec.name, fmt::format("1 to {} slots", kMaxSlots));
  }
  const bool ipv4 = spec.identity_bytes == kIpv4Bytes;
  Table table;
  table.ways = kKeyedWays;
  table.choices = kKeyedChoices;
  table.unit_bytes = kKeyedWays * (ipv4 ? kIpv4SlotBytes : kIpv6SlotBytes);
  table.units = roundUp(spec.slots, kKeyedWays) / kKeyedWays;
  table.hops = ipv4 ? kIpv4Hops : kMaxPathHops;
  table.identity_bytes = spec.identity_bytes;
  table.value_bytes = static_cast<std::uint32_t>(table.slotBytes() - kSlotHeadBytes);
  return table;
}

Result<Table> describeLists(const TableSpec& spec) {
  if (spec.blocks > kMaxSlots || spec.lists > kMaxLists) {
    return makeError("table " + spec.name, "has too many lists or blocks");
  }
  Table table;
  table.lists = spec.lists;
  table.units = spec.blocks;
  table.unit_bytes = kBlockBytes;
  return table;
}

Result<Table> describeCounters(const TableSpec& spec) {
  if (spec.counters > kMaxSlots) return makeError("table " + spec.name, "has too many counters");
  Table table;
  table.choices = kCounterRows;
  table.units = spec.counters;
  table.unit_bytes = kCounterBytes;
  if (spec.shared) {
    table.flags = kShared;
  } else {
    table.top_keys = kMaxTopKeys;
  }
  return table;
}

Result<Table> describe(const TableSpec& spec) {
  if (spec.kind == TableKind::kLists) return describeLists(spec);
  if (spec.kind == TableKind::kCounters) return describeCounters(spec);
  if (spec.kind == TableKind::kPaths) return describePaths(spec);
  return describeKeyed(spec);
}

// A list for changes of paths has room for those of all tables of the store.
Status checkPathChanges(const std::vector<TableSpec>& specs) {
  std::size_t needed = 0;
  for (const TableSpec& spec : specs) {
    if (spec.kind != TableKind::kPaths) continue;
    needed = std::max(needed, pathChangeBytes(spec.identity_bytes));
  }
  for (const TableSpec& spec : specs) {
    const bool is_for_them = spec.kind == TableKind::kLists && spec.name == kPathChanges;
    if (is_for_them && spec.value_bytes < needed) {
      return makeError("table " + spec.name,
                       fmt::format("changes of paths need entries of {} bytes", needed));
    }
  }
  return {};
}

std::uint64_t tableBytes(const Table& table) {
  if (table.kind == TableKind::kCounters) {
    return roundUp(table.topKeysOffset() + table.top_keys * kTopKeyBytes, kPageBytes);
  }
  const std::uint64_t lists = table.kind == TableKind::kLists ? table.lists : 1;
  return roundUp(table.units * table.unit_bytes * lists, kPageBytes);
}

std::string shapeOf(const Table& table) {
  std::string shape = fmt::format("{} x {} bytes, values of {}, as {}", table.units,
                                  table.unit_bytes, table.value_bytes, name(table.kind));
  if (table.top_keys != 0) shape += fmt::format(" with {} keys", table.top_keys);
  if (table.hasCopies()) shape += fmt::format(" in {} copies", table.choices);
  if (table.isShared()) shape += ", shared";
  return shape;
}

}  // namespace

Result<Head> layOut(const std::vector<TableSpec>& specs, Nanos now_utc) {
  if (auto status = checkPathChanges(specs); !status) return tl::unexpected(status.error());
  Head head;
  head.store = randomU64();
  head.made = now_utc;
  head.bytes = kTablesOffset;
  for (const TableSpec& spec : specs) {
    if (spec.shared && spec.kind != TableKind::kCounters) {
      return makeError("table " + spec.name, "only counters can be shared");
    }
    auto table = describe(spec);
    if (!table) return tl::unexpected(table.error());
    table->kind = spec.kind;
    table->id = spec.id;
    table->name = spec.name;
    if (spec.kind != TableKind::kPaths) table->value_bytes = spec.value_bytes;
    table->seed = randomU64();
    table->offset = head.bytes;
    table->bytes = tableBytes(*table);
    head.bytes += table->bytes;
    head.tables.push_back(std::move(*table));
    if (head.bytes > kMaxStoreBytes) {
      return makeError("table " + spec.name, "the store would be larger than 4 TiB");
    }
  }
  if (auto status = checkHead(head); !status) return tl::unexpected(status.error());
  return head;
}

Status sameTables(const Head& have, const Head& wanted) {
  const std::size_t both = std::min(have.tables.size(), wanted.tables.size());
  for (std::size_t i = 0; i < both; ++i) {
    Table seedless = have.tables[i];
    seedless.seed = wanted.tables[i].seed;
    if (seedless == wanted.tables[i]) continue;
    return makeError("table " + wanted.tables[i].name,
                     fmt::format("the file has table {} there ({}), not {}", seedless.name,
                                 shapeOf(seedless), shapeOf(wanted.tables[i])));
  }
  if (have.tables.size() == wanted.tables.size()) return {};
  return makeError(
      "tables", fmt::format("the file has {}, not {}", have.tables.size(), wanted.tables.size()));
}

}  // namespace pingloom::store
