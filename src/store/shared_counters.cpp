#include "store/shared_counters.h"

#include "store/counter_table.h"
#include "store/hash.h"
#include "store/writer_status.h"

namespace pingloom::store {

Result<std::unique_ptr<SharedCounterWriter>> SharedCounterWriter::create(
    const Table& table, std::size_t index, std::span<std::uint8_t> content) {
  if (!table.isShared()) return makeError("table " + table.name, "is not one of shared counters");
  if (content.size() != table.bytes) {
    return makeError("table " + table.name, "the copy has another size");
  }
  return std::unique_ptr<SharedCounterWriter>(new SharedCounterWriter(table, index, content));
}

SharedCounterWriter::SharedCounterWriter(const Table& table, std::size_t index,
                                         std::span<std::uint8_t> content)
    : table_(table),
      total_offset_(totalOffset(index)),
      content_(content),
      dirty_(table, content, kMinSlotBytes) {}

void SharedCounterWriter::add(std::span<const std::uint8_t> key, std::uint64_t amount) {
  const KeyHash hash = hashKey(key, table_.seed);
  for (unsigned row = 0; row < table_.choices; ++row) {
    addAt(counterOffset(table_, hash, row), amount);
  }
  total_ += amount;
}

void SharedCounterWriter::addAt(std::uint64_t offset, std::uint64_t amount) {
  putLittle(content_, offset, getLittle<std::uint64_t>(content_, offset) + amount);
  dirty_.mark(offset);
}

void SharedCounterWriter::sendAgain(std::uint64_t offset, std::uint64_t amount) {
  if (offset == total_offset_) {
    total_ += amount;
  } else {
    addAt(offset - table_.offset, amount);
  }
}

}  // namespace pingloom::store
