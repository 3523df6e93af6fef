// What the tests of stores share: tables, keys and values, and a store in memory.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "store/keyed_writer.h"
#include "store/layout.h"
#include "store/table_spec.h"

namespace pingloom::store::test {

using Bytes = std::vector<std::uint8_t>;

inline Bytes bytesOf(std::string_view text) { return {text.begin(), text.end()}; }

inline Bytes numberKey(std::uint64_t number) {
  Bytes key(sizeof number);
  std::memcpy(key.data(), &number, sizeof number);
  return key;
}

inline TableSpec keyedSpec(std::string name, std::uint16_t id, std::uint64_t slots,
                           std::uint32_t value_bytes) {
  return {TableKind::kKeyed, id, std::move(name), slots, value_bytes};
}

// The table's seed is always the same, so that the same keys meet in its buckets in each run.
inline Table tableOf(const TableSpec& spec) {
  Table table = layOut({spec}, 0)->tables.front();
  table.seed = 0x5eed;
  return table;
}

inline Table keyedTable(std::uint64_t slots, std::uint32_t value_bytes = 24) {
  return tableOf(keyedSpec("keys", 1, slots, value_bytes));
}

// Copies what is changed to `store`, the table's memory, as WRITEs would, and returns how many they
// are. Words are stored as a whole, so that another thread may read.
inline std::size_t flush(KeyedWriter& writer, std::span<std::uint8_t> store) {
  std::size_t writes = 0;
  writer.takeDirty([&](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + i, 8);
      auto* const to = store.data() + (offset - writer.table().offset) + i;
      __atomic_store_n(reinterpret_cast<std::uint64_t*>(to), word, __ATOMIC_RELAXED);
    }
    ++writes;
    return true;
  });
  return writes;
}

}  // namespace pingloom::store::test
