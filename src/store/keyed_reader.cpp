#include "store/keyed_reader.h"

#include <algorithm>

#include "store/hash.h"
#include "store/little_endian.h"
#include "store/stamp.h"

namespace pingloom::store {
namespace {

// The copies of a key's slots.
struct Slots {
  std::array<std::uint8_t, kMaxChoices * kMaxWays * kMaxSlotBytes> bytes;
  std::array<ReadPiece, kMaxChoices> buckets;
};

// The values of a key that were found, each with the number of slots that have it.
class Candidates {
 public:
  // Notes the value of a slot if it is the key's.
  void take(const Table& table, std::span<const std::uint8_t> key,
            std::span<const std::uint8_t> slot) {
    const auto stamp = getLittle<std::uint32_t>(slot, 4);
    const auto room = slot.subspan(kSlotHeadBytes);
    if (stamp == 0 || getLittle<std::uint32_t>(slot, 0) != slotCrc(table.seed, key, stamp, room)) {
      return;
    }
    const auto value = room.first(table.value_bytes);
    for (Candidate& one : std::span(found_).first(count_)) {
      if (!std::ranges::equal(one.value, value)) continue;
      ++one.slots;
      if (ticksBetween(one.stamp, stamp) > 0) one.stamp = stamp;
      return;
    }
    if (count_ < found_.size()) found_[count_++] = {value, stamp, 1};
  }

  std::optional<Value> best(bool by_majority) const {
    const Candidate* best = nullptr;
    for (const Candidate& one : std::span(found_).first(count_)) {
      if (best == nullptr || isBetter(one, *best, by_majority)) best = &one;
    }
    if (best == nullptr) return std::nullopt;
    Value value;
    value.stamp = best->stamp;
    value.size = best->value.size();
    std::ranges::copy(best->value, value.memory.begin());
    return value;
  }

 private:
  struct Candidate {
    std::span<const std::uint8_t> value;
    std::uint32_t stamp = 0;
    int slots = 0;
  };
  static bool isBetter(const Candidate& one, const Candidate& than, bool by_majority) {
    if (by_majority && one.slots != than.slots) return one.slots > than.slots;
    return ticksBetween(than.stamp, one.stamp) > 0;
  }

  // More than these are there only if a writer puts a key into every slot of its buckets.
  std::array<Candidate, 8> found_;
  std::size_t count_ = 0;
};

}  // namespace

std::optional<Value> findKey(const Table& table, const TableMemory& memory,
                             std::span<const std::uint8_t> key) {
  const KeyHash hash = hashKey(key, table.seed);
  const std::size_t slot_bytes = table.slotBytes();
  Slots slots;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills what is used
  for (unsigned k = 0; k < table.choices; ++k) {
    slots.buckets[k] = {
        choiceOf(hash, k, table.units) * table.unit_bytes,
        std::span(slots.bytes).subspan(k * std::size_t{table.unit_bytes}, table.unit_bytes)};
  }
  const std::size_t used = table.choices * std::size_t{table.unit_bytes};
  std::optional<Value> value;
  for (int attempt = 0; attempt < kReadAttempts && !value; ++attempt) {
    memory.read(std::span(slots.buckets).first(table.choices));
    Candidates candidates;
    for (std::size_t at = 0; at < used; at += slot_bytes) {
      candidates.take(table, key, std::span(slots.bytes).subspan(at, slot_bytes));
    }
    value = candidates.best(table.hasCopies());
  }
  return value;
}

std::uint64_t countUsed(const Table& table, const TableMemory& memory) {
  const std::size_t slot_bytes = table.slotBytes();
  std::uint64_t used = 0;
  for (std::uint64_t slot = 0; slot < table.units * table.ways; ++slot) {
    std::array<std::uint8_t, kSlotHeadBytes> head{};
    memory.read(slot * slot_bytes, head);
    used += getLittle<std::uint32_t>(head, 4) != 0 ? 1 : 0;
  }
  return used;
}

}  // namespace pingloom::store
