#include "store/keyed_writer.h"

#include <algorithm>

#include "store/little_endian.h"
#include "store/stamp.h"

namespace pingloom::store {

Result<std::unique_ptr<KeyedWriter>> KeyedWriter::create(const Table& table,
                                                         std::span<std::uint8_t> content) {
  if (!hasSlots(table.kind)) return makeError("table " + table.name, "has no slots");
  if (content.size() != table.bytes) {
    return makeError("table " + table.name, "the copy has another size");
  }
  return std::unique_ptr<KeyedWriter>(new KeyedWriter(table, content));
}

KeyedWriter::KeyedWriter(const Table& table, std::span<std::uint8_t> content)
    : table_(table),
      slot_bytes_(table.slotBytes()),
      content_(content),
      index_(table.units * table.ways),
      dirty_(table, content, slot_bytes_) {}

KeyedWriter::Spot KeyedWriter::locate(std::span<const std::uint8_t> key) const {
  const KeyHash hash = hashKey(key, table_.seed);
  Spot spot;
  spot.tag = tagOf(hash);
  for (unsigned k = 0; k < table_.choices; ++k) {
    spot.buckets[k] = choiceOf(hash, k, table_.units);
    __builtin_prefetch(&index_[spot.buckets[k] * table_.ways]);
  }
  return spot;
}

KeyedWriter::Choice KeyedWriter::choose(const Spot& spot, std::span<const std::uint8_t> key,
                                        std::uint32_t stamp) const {
  Choice oldest{spot.buckets[0] * table_.ways, Placed::kEvicted};
  std::int64_t oldest_ticks = INT64_MIN;
  Choice empty;
  int most_empty = 0;
  bool unknown = false;
  for (unsigned k = 0; k < table_.choices; ++k) {
    const std::uint64_t first = spot.buckets[k] * table_.ways;
    int empties = 0;
    std::uint64_t an_empty = first;
    for (std::uint64_t slot = first; slot < first + table_.ways; ++slot) {
      const Slot& there = index_[slot];
      if (there.stamp == 0) {
        if (empties++ == 0) an_empty = slot;
        continue;
      }
      if (there.tag == spot.tag) return {slot, Placed::kUpdated};
      unknown = unknown || there.tag == 0;
      if (const auto ticks = ticksBetween(there.stamp, stamp); ticks > oldest_ticks) {
        oldest_ticks = ticks;
        oldest.slot = slot;
      }
    }
    if (empties > most_empty) {
      most_empty = empties;
      empty.slot = an_empty;
    }
  }
  // A slot that was read back may be the key's.
  if (unknown) {
    if (const auto own = ownSlot(spot, key)) return {*own, Placed::kUpdated};
  }
  return most_empty > 0 ? empty : oldest;
}

// Finds the key's slot by its checksum, which is over the key, too.
std::optional<std::uint64_t> KeyedWriter::ownSlot(const Spot& spot,
                                                  std::span<const std::uint8_t> key) const {
  for (unsigned k = 0; k < table_.choices; ++k) {
    const std::uint64_t first = spot.buckets[k] * table_.ways;
    for (std::uint64_t slot = first; slot < first + table_.ways; ++slot) {
      const Slot& there = index_[slot];
      if (there.stamp == 0 || (there.tag != spot.tag && there.tag != 0)) continue;
      const auto bytes = content_.subspan(slot * slot_bytes_, slot_bytes_);
      const auto room = bytes.subspan(kSlotHeadBytes);
      const auto crc = getLittle<std::uint32_t>(bytes, 0);
      if (crc == slotCrc(table_.seed, key, there.stamp, room)) return slot;
    }
  }
  return std::nullopt;
}

Placed KeyedWriter::place(const Spot& spot, std::span<const std::uint8_t> key,
                          std::span<const std::uint8_t> value, std::uint32_t stamp) {
  if (table_.hasCopies()) return placeCopies(spot, key, value, stamp);
  const Choice choice = choose(spot, key, stamp);
  used_ += choice.how == Placed::kNew ? 1 : 0;
  index_[choice.slot] = {spot.tag, stamp};
  fill(choice.slot, key, value, stamp);
  return choice.how;
}

Placed KeyedWriter::placeCopies(const Spot& spot, std::span<const std::uint8_t> key,
                                std::span<const std::uint8_t> value, std::uint32_t stamp) {
  Placed how = Placed::kUpdated;
  for (unsigned k = 0; k < table_.choices; ++k) {
    Slot& there = index_[spot.buckets[k]];
    if (there.stamp == 0) {
      ++used_;
      if (how == Placed::kUpdated) how = Placed::kNew;
    } else if (there.tag != spot.tag) {
      how = Placed::kEvicted;
    }
    there = {spot.tag, stamp};
    fill(spot.buckets[k], key, value, stamp);
  }
  return how;
}

void KeyedWriter::fill(std::uint64_t slot, std::span<const std::uint8_t> key,
                       std::span<const std::uint8_t> value, std::uint32_t stamp) {
  const std::uint64_t offset = slot * slot_bytes_;
  const auto bytes = content_.subspan(offset, slot_bytes_);
  const auto room = bytes.subspan(kSlotHeadBytes);
  std::fill(std::copy(value.begin(), value.end(), room.begin()), room.end(), 0);
  putLittle(bytes, 0, slotCrc(table_.seed, key, stamp, room));
  putLittle(bytes, 4, stamp);
  dirty_.mark(offset);
}

std::span<const std::uint8_t> KeyedWriter::recall(const Spot& spot,
                                                  std::span<const std::uint8_t> key) {
  if (const auto own = ownSlot(spot, key)) {
    index_[*own].tag = spot.tag;
    return content_.subspan(*own * slot_bytes_ + kSlotHeadBytes, slot_bytes_ - kSlotHeadBytes);
  }
  return {};
}

void KeyedWriter::sendAgain(std::uint64_t offset, std::size_t bytes) {
  const std::uint64_t first = (offset - table_.offset) / slot_bytes_;
  const std::uint64_t end = std::min<std::uint64_t>(first + bytes / slot_bytes_, index_.size());
  for (std::uint64_t slot = first; slot < end; ++slot) {
    if (index_[slot].stamp != 0) dirty_.mark(slot * slot_bytes_);
  }
}

void KeyedWriter::restore() {
  used_ = 0;
  for (std::uint64_t slot = 0; slot < index_.size(); ++slot) {
    const auto stamp = getLittle<std::uint32_t>(content_, slot * slot_bytes_ + 4);
    index_[slot] = {0, stamp};
    used_ += stamp != 0 ? 1 : 0;
  }
}

}  // namespace pingloom::store
