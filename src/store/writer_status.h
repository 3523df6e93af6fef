// The status page of a store: what its writer says about itself, every 100 ms. Its numbers are
// little endian. Plain values and pure functions; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/error.h"
#include "common/time.h"
#include "store/layout.h"

namespace pingloom::store {

constexpr std::size_t kStatusBytes = 872;
constexpr Nanos kStatusInterval = 100 * kMillisecond;
constexpr Nanos kStaleAfter = kSecond;  // without a beat
constexpr std::size_t kOperations = 4;  // key-write, append, key-increment, postcard

// What the writer says about one table.
struct TableFigures {
  std::uint64_t used = 0;  // slots that are not empty
  // Reports placed since the writer started; of counters, the sum of all increments ever.
  std::uint64_t total = 0;
  // Since the writer started: keys that made room for others, or entries of lists for which there
  // was no room.
  std::uint64_t displaced = 0;

  bool operator==(const TableFigures&) const = default;
};

struct WriterStatus {
  std::uint64_t incarnation = 0;  // random at each start of the writer
  std::uint64_t beat = 0;         // one more each time
  Nanos utc = 0;                  // the writer's clock
  // Reports since the writer started, except for the total.
  std::array<std::uint64_t, kOperations> accepted{};
  std::uint64_t lost = 0;        // they never arrived
  std::uint64_t refused = 0;     // malformed, or for no table of this store
  std::uint64_t skipped = 0;     // dropped by reporters themselves
  std::uint64_t evicted = 0;     // keys that made room for others
  std::uint64_t dropped = 0;     // entries of lists for which there was no room
  std::uint64_t increments = 0;  // the sum of all increments in the store's counters
  std::array<TableFigures, kMaxTables> tables{};  // in the head's order

  bool operator==(const WriterStatus&) const = default;
};

// Where the total of the table with this index in the head is, as an offset in the store. The
// writers of a shared store add to it.
constexpr std::uint64_t totalOffset(std::size_t index) {
  return kStatusOffset + 128 + index * 24 + 8;
}
// Where the time is at which one of them was last alive, as UTC in nanoseconds.
constexpr std::uint64_t kBeatOffset = kStatusOffset + 24;

using StatusBlock = std::array<std::uint8_t, kStatusBytes>;
StatusBlock encodeStatus(const WriterStatus& status);
// An error for what is not there yet or half written, so a reader tries again. `block` may be
// shorter than kStatusBytes, which is an error too.
Result<WriterStatus> decodeStatus(std::span<const std::uint8_t> block);
// The same of a shared store, of which only the time and the tables' totals are known, and which
// has no checksum: each number is written as a whole.
Result<WriterStatus> decodeSharedStatus(std::span<const std::uint8_t> block);

}  // namespace pingloom::store
