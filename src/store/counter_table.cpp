#include "store/counter_table.h"

#include <algorithm>
#include <array>
#include <numbers>

#include "store/hash.h"
#include "store/little_endian.h"
#include "store/top_keys.h"

namespace pingloom::store {
namespace {

std::uint64_t addSaturating(std::uint64_t a, std::uint64_t b) {
  return a + std::min(b, UINT64_MAX - a);
}

}  // namespace

Result<std::unique_ptr<CounterWriter>> CounterWriter::create(const Table& table,
                                                             std::span<std::uint8_t> content) {
  if (table.kind != TableKind::kCounters) {
    return makeError("table " + table.name, "is not one of counters");
  }
  if (content.size() != table.bytes) {
    return makeError("table " + table.name, "the copy has another size");
  }
  return std::unique_ptr<CounterWriter>(new CounterWriter(table, content));
}

void CounterWriter::add(std::span<const std::uint8_t> key, std::uint64_t amount) {
  const KeyHash hash = hashKey(key, table_.seed);
  Pending& pending = pending_[pending_count_++];
  pending.amount = amount;
  pending.hash = hash;
  pending.key_size = static_cast<std::uint8_t>(key.size());
  std::copy(key.begin(), key.end(), pending.key.begin());
  for (unsigned row = 0; row < table_.choices; ++row) {
    const std::uint64_t offset = counterOffset(table_, hash, row);
    __builtin_prefetch(&content_[offset], 1);
    dirty_.prefetch(offset);
    pending.offsets[row] = offset;
  }
  total_ = addSaturating(total_, amount);
  if (pending_count_ == kMaxPending) settle();
}

void CounterWriter::settle() {
  // Whether a key is wanted is a coin toss for the branch predictor, so nothing branches on it.
  std::array<std::uint8_t, kMaxPending> wanted{};
  std::size_t wanted_count = 0;
  for (std::size_t i = 0; i < pending_count_; ++i) {
    pending_[i].estimate = addTo(pending_[i]);
    wanted[wanted_count] = static_cast<std::uint8_t>(i);
    wanted_count += heavy_.wants(pending_[i].estimate) ? 1 : 0;
  }
  for (std::size_t i = 0; i < wanted_count; ++i) heavy_.prefetch(pending_[wanted[i]].hash);
  for (std::size_t i = 0; i < wanted_count; ++i) {
    const Pending& pending = pending_[wanted[i]];
    const auto key = std::span(pending.key).first(pending.key_size);
    heavy_.add(pending.hash, key, pending.amount, pending.estimate);
  }
  pending_count_ = 0;
}

// Returns the estimate of the key after this increment.
std::uint64_t CounterWriter::addTo(const Pending& pending) {
  std::uint64_t least = UINT64_MAX;
  for (const std::uint64_t offset : std::span(pending.offsets).first(table_.choices)) {
    const auto before = getLittle<std::uint64_t>(content_, offset);
    const std::uint64_t after = addSaturating(before, pending.amount);
    putLittle(content_, offset, after);
    dirty_.mark(offset);
    least = std::min(least, after);
  }
  return least;
}

void CounterWriter::publishKeys() {
  settle();
  for (std::size_t i = 0; i < heavy_.size(); ++i) {
    const TopKeyEntry entry = encodeTopKey(table_, heavy_.at(i));
    const std::uint64_t offset = table_.topKeysOffset() + i * kTopKeyBytes;
    const auto place = content_.subspan(offset, kTopKeyBytes);
    if (std::equal(entry.begin(), entry.end(), place.begin())) continue;
    std::copy(entry.begin(), entry.end(), place.begin());
    dirty_.mark(offset);
  }
}

// Each increment is in one counter of each row.
void CounterWriter::restore() {
  total_ = 0;
  for (std::uint64_t i = 0; i < table_.units; ++i) {
    total_ = addSaturating(total_, getLittle<std::uint64_t>(content_, i * kCounterBytes));
  }
  heavy_.clear();
  for (const TopKey& key : readTopKeys(table_, content_)) {
    heavy_.restore(hashKey(key.key(), table_.seed), key);
  }
}

std::uint64_t countKey(const Table& table, const TableMemory& memory,
                       std::span<const std::uint8_t> key) {
  const KeyHash hash = hashKey(key, table.seed);
  std::array<std::uint8_t, kMaxRows * kCounterBytes> counters{};
  std::array<ReadPiece, kMaxRows> pieces;
  for (unsigned row = 0; row < table.choices; ++row) {
    pieces[row] = {counterOffset(table, hash, row),
                   std::span(counters).subspan(row * kCounterBytes, kCounterBytes)};
  }
  memory.read(std::span(pieces).first(table.choices));
  std::uint64_t least = UINT64_MAX;
  for (unsigned row = 0; row < table.choices; ++row) {
    least = std::min(least, getLittle<std::uint64_t>(pieces[row].into, 0));
  }
  return least;
}

double countErrorBound(const Table& table, std::uint64_t total) {
  return std::numbers::e * static_cast<double>(total) / static_cast<double>(table.units);
}

}  // namespace pingloom::store
