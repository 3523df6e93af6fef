// The most counted keys of a table of counters, as its writer leaves them behind the rows of
// counters (docs/store-format.md). They only say which keys to ask for: counts come from the
// counters. Plain values and pure functions; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "store/layout.h"
#include "store/table_memory.h"

namespace pingloom::store {

struct TopKey {
  std::array<std::uint8_t, kMaxKeyBytes> memory{};
  std::uint8_t size = 0;
  std::uint64_t count = 0;  // at least what was added for the key
  std::uint64_t error = 0;  // the count is too large by at most this

  std::span<const std::uint8_t> key() const { return std::span(memory).first(size); }
  bool operator==(const TopKey&) const = default;
};

using TopKeyEntry = std::array<std::uint8_t, kTopKeyBytes>;
TopKeyEntry encodeTopKey(const Table& table, const TopKey& key);
// Returns nullopt for an entry that is empty, half written or damaged. REQUIRES: kTopKeyBytes.
std::optional<TopKey> decodeTopKey(const Table& table, std::span<const std::uint8_t> entry);

// Returns the keys that the writer has left, each once and in no order. One that is just being
// rewritten may be missing. `memory` is the table's and may change meanwhile. REQUIRES: a table of
// counters, of a head that has been checked.
std::vector<TopKey> readTopKeys(const Table& table, const TableMemory& memory);

}  // namespace pingloom::store
