#include "store/keyed_reader.h"

#include <algorithm>

#include "store/hash.h"
#include "store/little_endian.h"
#include "store/shared_read.h"
#include "store/stamp.h"

namespace pingloom::store {
namespace {

// Takes the slot's value into `best` if it is the key's and later than what is there.
void takeSlot(const Table& table, std::span<const std::uint8_t> key,
              std::span<const std::uint8_t> shared, std::optional<Value>& best) {
  std::array<std::uint8_t, kMaxSlotBytes> copy{};
  const auto slot = std::span(copy).first(shared.size());
  copyShared(shared, slot);
  const auto stamp = getLittle<std::uint32_t>(slot, 4);
  const auto room = slot.subspan(kSlotHeadBytes);
  if (stamp == 0 || getLittle<std::uint32_t>(slot, 0) != slotCrc(table.seed, key, stamp, room)) {
    return;
  }
  if (best && ticksBetween(best->stamp, stamp) <= 0) return;
  best.emplace();
  best->stamp = stamp;
  best->size = table.value_bytes;
  std::copy_n(room.begin(), table.value_bytes, best->memory.begin());
}

}  // namespace

std::optional<Value> findKey(const Table& table, std::span<const std::uint8_t> memory,
                             std::span<const std::uint8_t> key) {
  const KeyHash hash = hashKey(key, table.seed);
  const std::size_t slot_bytes = table.slotBytes();
  std::optional<Value> best;
  for (int attempt = 0; attempt < kReadAttempts && !best; ++attempt) {
    for (unsigned k = 0; k < table.choices; ++k) {
      const auto bucket =
          memory.subspan(choiceOf(hash, k, table.units) * table.unit_bytes, table.unit_bytes);
      for (unsigned way = 0; way < table.ways; ++way) {
        takeSlot(table, key, bucket.subspan(way * slot_bytes, slot_bytes), best);
      }
    }
  }
  return best;
}

std::uint64_t countUsed(const Table& table, std::span<const std::uint8_t> memory) {
  const std::size_t slot_bytes = table.slotBytes();
  std::uint64_t used = 0;
  for (std::uint64_t slot = 0; slot < table.units * table.ways; ++slot) {
    std::array<std::uint8_t, kSlotHeadBytes> head{};
    copyShared(memory.subspan(slot * slot_bytes, head.size()), head);
    used += getLittle<std::uint32_t>(head, 4) != 0 ? 1 : 0;
  }
  return used;
}

}  // namespace pingloom::store
