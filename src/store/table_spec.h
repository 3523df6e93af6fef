// What an operator says about a table, and the descriptors that follow from it. Plain values and
// pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/error.h"
#include "store/layout.h"

namespace pingloom::store {

constexpr std::uint64_t kMaxSlots = std::uint64_t{1} << 36;  // also of blocks and counters

struct TableSpec {
  TableKind kind = TableKind::kKeyed;
  std::uint16_t id = 0;
  std::string name;
  std::uint64_t slots = 0;           // keyed, paths: at least this many, at most kMaxSlots
  std::uint32_t value_bytes = 0;     // keyed: 1 to kMaxValueBytes; lists: 1 to kMaxEntryBytes
  std::uint32_t lists = 0;           // lists: 1 to kMaxLists
  std::uint64_t blocks = 0;          // lists: of each list, from kMinBlocks
  std::uint64_t counters = 0;        // counters: in each of two rows
  std::uint16_t identity_bytes = 0;  // paths: kIpv4Bytes or kIpv6Bytes
  std::uint16_t copies = 0;          // keyed: 1 to kMaxChoices of each key, or 0 to place one
  bool shared = false;               // counters: several translators add to them

  bool operator==(const TableSpec&) const = default;
};

// Lays the tables out one behind the other, with random seeds. The error names the table.
Result<Head> layOut(const std::vector<TableSpec>& specs, Nanos now_utc);

// Tells whether both have the same tables in the same places, whatever their seeds are. The error
// names the first table that differs.
Status sameTables(const Head& have, const Head& wanted);

}  // namespace pingloom::store
