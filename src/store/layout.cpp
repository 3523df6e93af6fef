#include "store/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/crc32c.h"
#include "store/little_endian.h"
#include "store/path_slot.h"

namespace pingloom::store {
namespace {

constexpr std::uint32_t kHeadMagic = 0x54534c50;  // "PLST"
constexpr std::uint16_t kHeadVersion = 1;
constexpr std::size_t kHeadCrcOffset = 44;
constexpr std::size_t kDescriptorsOffset = 128;
constexpr std::size_t kDescriptorBytes = 128;
constexpr std::size_t kNameOffset = 64;
static_assert(kDescriptorsOffset + kMaxTables * kDescriptorBytes == kPageBytes);
static_assert(kNameOffset + kMaxTableName + 1 == kDescriptorBytes);

std::uint32_t headCrc(std::span<const std::uint8_t> page) {
  return crc32c(page.subspan(kDescriptorsOffset), crc32c(page.first(kHeadCrcOffset)));
}

void encodeTable(const Table& table, std::span<std::uint8_t> out) {
  putLittle(out, 0, static_cast<std::uint16_t>(table.kind));
  putLittle(out, 2, table.id);
  putLittle(out, 4, table.flags);
  putLittle(out, 8, table.offset);
  putLittle(out, 16, table.bytes);
  putLittle(out, 24, table.units);
  putLittle(out, 32, table.unit_bytes);
  putLittle(out, 36, table.value_bytes);
  putLittle(out, 40, table.ways);
  putLittle(out, 42, table.choices);
  putLittle(out, 44, table.lists);
  putLittle(out, 48, table.seed);
  putLittle(out, 56, table.hops);
  putLittle(out, 58, table.identity_bytes);
  putLittle(out, 60, table.top_keys);
  std::copy(table.name.begin(), table.name.end(), out.begin() + kNameOffset);
}

Table decodeTable(std::span<const std::uint8_t> in) {
  Table table;
  table.kind = static_cast<TableKind>(getLittle<std::uint16_t>(in, 0));
  table.id = getLittle<std::uint16_t>(in, 2);
  table.flags = getLittle<std::uint32_t>(in, 4);
  table.offset = getLittle<std::uint64_t>(in, 8);
  table.bytes = getLittle<std::uint64_t>(in, 16);
  table.units = getLittle<std::uint64_t>(in, 24);
  table.unit_bytes = getLittle<std::uint32_t>(in, 32);
  table.value_bytes = getLittle<std::uint32_t>(in, 36);
  table.ways = getLittle<std::uint16_t>(in, 40);
  table.choices = getLittle<std::uint16_t>(in, 42);
  table.lists = getLittle<std::uint32_t>(in, 44);
  table.seed = getLittle<std::uint64_t>(in, 48);
  table.hops = getLittle<std::uint16_t>(in, 56);
  table.identity_bytes = getLittle<std::uint16_t>(in, 58);
  table.top_keys = getLittle<std::uint32_t>(in, 60);
  const auto name = in.subspan(kNameOffset, kMaxTableName + 1);
  const auto end = std::find(name.begin(), name.end(), 0);
  table.name.assign(name.begin(), end);
  return table;
}

// How many runs of `units` units the table has: lists, rows or one.
std::uint64_t runsOf(const Table& table) {
  if (table.kind == TableKind::kLists) return table.lists;
  if (table.kind == TableKind::kCounters) return table.choices;
  return 1;
}

std::string_view slotsFault(const Table& table) {
  if (table.ways < 1 || table.ways > kMaxWays || table.choices < 1 || table.choices > kMaxChoices) {
    return "has an impossible number of ways or choices";
  }
  if (table.hasCopies() && table.ways != 1) return "has copies in buckets of several slots";
  const std::size_t slot = table.slotBytes();
  const std::size_t most = table.kind == TableKind::kPaths ? kMaxSlotBytes : kMaxKeyedSlotBytes;
  const bool power = slot >= kMinSlotBytes && slot <= most && (slot & (slot - 1)) == 0;
  if (!power || table.unit_bytes % table.ways != 0) return "has an impossible size of slots";
  if (table.value_bytes < 1 || table.value_bytes > slot - kSlotHeadBytes) {
    return "has values that do not fit into its slots";
  }
  return "";
}

std::string_view pathsFault(const Table& table) {
  if (const auto fault = slotsFault(table); !fault.empty()) return fault;
  if (table.identity_bytes != kIpv4Bytes && table.identity_bytes != kIpv6Bytes) {
    return "has hops of an impossible size";
  }
  const std::size_t hop = pathHopBytes(table.identity_bytes);
  const bool fits = table.hops >= 1 && table.hops <= kMaxPathHops &&
                    table.value_bytes == table.slotBytes() - kSlotHeadBytes &&
                    kPathHeadBytes + table.hops * hop <= table.value_bytes;
  return fits ? "" : "has an impossible number of hops";
}

std::string_view listsFault(const Table& table) {
  if (table.unit_bytes != kBlockBytes) return "has an impossible size of blocks";
  if (table.value_bytes < 1 || table.value_bytes > kMaxEntryBytes) {
    return "has entries of an impossible size";
  }
  const bool fits = table.lists >= 1 && table.lists <= kMaxLists && table.units >= kMinBlocks;
  return fits ? "" : "has an impossible number of lists or blocks";
}

std::string_view countersFault(const Table& table) {
  if (table.unit_bytes != kCounterBytes) return "has an impossible size of counters";
  if (table.choices < 1 || table.choices > kMaxRows) return "has an impossible number of rows";
  if (table.isShared() && table.top_keys != 0)
    return "is shared, so nobody knows its most counted keys";
  return table.top_keys <= kMaxTopKeys ? "" : "has an impossible number of most counted keys";
}

// What has to hold for the table's kind; "" if it does.
std::string_view shapeFault(const Table& table) {
  switch (table.kind) {
    case TableKind::kKeyed:
      return slotsFault(table);
    case TableKind::kLists:
      return listsFault(table);
    case TableKind::kCounters:
      return countersFault(table);
    case TableKind::kPaths:
      return pathsFault(table);
    default:
      return "is of a kind that this version does not know";
  }
}

// The flags that tables of the kind may have.
bool knowsFlags(const Table& table) {
  if (table.flags == kShared) return table.kind == TableKind::kCounters;
  return table.flags == 0 || (table.kind == TableKind::kKeyed && table.flags == kCopies);
}

Status checkTable(const Table& table, std::uint64_t file_bytes) {
  if (!isName(table.name)) return makeError("a table", "has an impossible name");
  const std::string entity = "table " + table.name;
  if (!knowsFlags(table)) return makeError(entity, "has flags that this version does not know");
  if (const auto fault = shapeFault(table); !fault.empty()) return makeError(entity, fault);
  if (table.offset % kPageBytes != 0 || table.bytes % kPageBytes != 0) {
    return makeError(entity, "is not aligned to pages");
  }
  if (table.offset < kTablesOffset || table.bytes == 0 || table.offset > file_bytes ||
      table.bytes > file_bytes - table.offset) {
    return makeError(entity, "is outside the file");
  }
  // Divisions do not overflow.
  const std::uint64_t runs = runsOf(table);
  if (table.units == 0 || runs == 0 || table.units > table.bytes / table.unit_bytes / runs) {
    return makeError(entity, "has no room for its units");
  }
  if (table.kind == TableKind::kCounters && table.top_keys != 0 &&
      table.topKeysOffset() + table.top_keys * kTopKeyBytes > table.bytes) {
    return makeError(entity, "has no room for its most counted keys");
  }
  return {};
}

Status checkApart(const Table& a, const Table& b) {
  if (a.name == b.name) return makeError("table " + a.name, "is there twice");
  if (a.id == b.id) return makeError("table " + b.name, "has the number of table " + a.name);
  if (a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes) {
    return makeError("table " + b.name, "overlaps table " + a.name);
  }
  return {};
}

}  // namespace

std::string_view name(TableKind kind) {
  switch (kind) {
    case TableKind::kKeyed:
      return "keyed";
    case TableKind::kLists:
      return "lists";
    case TableKind::kCounters:
      return "counters";
    case TableKind::kPaths:
      return "paths";
  }
  return "unknown";
}

bool isName(std::string_view name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kMaxTableName &&
         std::all_of(name.begin(), name.end(), fits);
}

Status checkHead(const Head& head) {
  if (head.state != StoreState::kServing && head.state != StoreState::kClosed) {
    return makeError("head", fmt::format("state {} is unknown", static_cast<int>(head.state)));
  }
  if (head.made < 0 || head.made > kLatestUtc) return makeError("head", "impossible time");
  if (head.bytes < kTablesOffset || head.bytes > kMaxStoreBytes || head.bytes % kPageBytes != 0) {
    return makeError("head", fmt::format("a size of {} bytes is impossible", head.bytes));
  }
  if (head.tables.size() > kMaxTables) return makeError("head", "more than 31 tables");
  std::uint64_t lists = 0;
  for (std::size_t i = 0; i < head.tables.size(); ++i) {
    if (auto status = checkTable(head.tables[i], head.bytes); !status) return status;
    if (head.tables[i].isShared() != head.isShared()) {
      return makeError("table " + head.tables[i].name, "some tables are shared and others are not");
    }
    if (head.tables[i].kind == TableKind::kLists) lists += head.tables[i].lists;
    if (lists > kMaxLists) return makeError("head", "more than 65536 lists");
    for (std::size_t j = 0; j < i; ++j) {
      if (auto status = checkApart(head.tables[j], head.tables[i]); !status) return status;
    }
  }
  return {};
}

HeadPage encodeHead(const Head& head) {
  HeadPage page{};
  const std::span<std::uint8_t> out(page);
  putLittle(out, 0, kHeadMagic);
  putLittle(out, 4, kHeadVersion);
  putLittle(out, 6, static_cast<std::uint16_t>(head.state));
  putLittle(out, 8, head.store);
  putLittle(out, 16, head.epoch);
  putLittle(out, 24, static_cast<std::uint64_t>(head.made));
  putLittle(out, 32, head.bytes);
  putLittle(out, 40, static_cast<std::uint32_t>(head.tables.size()));
  for (std::size_t i = 0; i < head.tables.size(); ++i) {
    encodeTable(head.tables[i],
                out.subspan(kDescriptorsOffset + i * kDescriptorBytes, kDescriptorBytes));
  }
  putLittle(out, kHeadCrcOffset, headCrc(page));
  return page;
}

Result<Head> decodeHead(std::span<const std::uint8_t> page) {
  if (page.size() < kPageBytes) return makeError("head", "the file is shorter than a page");
  page = page.first(kPageBytes);
  if (getLittle<std::uint32_t>(page, 0) != kHeadMagic) return makeError("head", "is no store");
  const auto version = getLittle<std::uint16_t>(page, 4);
  if (version != kHeadVersion) {
    return makeError("head", fmt::format("version {} is unknown, 1 is known", version));
  }
  if (getLittle<std::uint32_t>(page, kHeadCrcOffset) != headCrc(page)) {
    return makeError("head", "the checksum is wrong");
  }
  Head head;
  head.state = static_cast<StoreState>(getLittle<std::uint16_t>(page, 6));
  head.store = getLittle<std::uint64_t>(page, 8);
  head.epoch = getLittle<std::uint64_t>(page, 16);
  head.made = static_cast<Nanos>(getLittle<std::uint64_t>(page, 24));
  head.bytes = getLittle<std::uint64_t>(page, 32);
  const auto tables = getLittle<std::uint32_t>(page, 40);
  if (tables > kMaxTables) return makeError("head", "more than 31 tables");
  for (std::size_t i = 0; i < tables; ++i) {
    head.tables.push_back(
        decodeTable(page.subspan(kDescriptorsOffset + i * kDescriptorBytes, kDescriptorBytes)));
  }
  if (auto status = checkHead(head); !status) return tl::unexpected(status.error());
  return head;
}

}  // namespace pingloom::store
