#include "store/list_writer.h"

#include <algorithm>
#include <utility>

#include "store/list_block.h"
#include "store/little_endian.h"

namespace pingloom::store {
namespace {

// No list lives long enough to reach it, so a number beyond it was never a sequence.
constexpr std::uint64_t kMaxSequence = std::uint64_t{1} << 62;

}  // namespace

Result<std::unique_ptr<ListWriter>> ListWriter::create(const Table& table,
                                                       std::span<std::uint8_t> pool) {
  if (table.kind != TableKind::kLists) {
    return makeError("table " + table.name, "is not one of lists");
  }
  const std::size_t blocks = pool.size() / kBlockBytes;
  if (pool.size() % kBlockBytes != 0 || blocks < table.lists || blocks >= kNone) {
    return makeError("table " + table.name, "the blocks do not suffice for its lists");
  }
  return std::unique_ptr<ListWriter>(new ListWriter(table, pool));
}

ListWriter::ListWriter(const Table& table, std::span<std::uint8_t> pool)
    : table_(table),
      pool_(pool),
      room_(entriesPerBlock(table.value_bytes)),
      most_held_(static_cast<std::uint16_t>(std::min<std::uint64_t>(kMaxHeld, table.units))),
      lists_(table.lists),
      blocks_(pool.size() / kBlockBytes),
      free_count_(static_cast<std::uint32_t>(blocks_.size())),
      without_(table.lists) {
  changed_.reserve(table.lists);
  for (std::uint32_t i = free_count_; i > 0; --i) {
    blocks_[i - 1].next = free_;
    free_ = i - 1;
  }
}

void ListWriter::saw(std::uint64_t offset, std::span<const std::uint8_t> block) {
  const std::uint64_t place = offset / kBlockBytes;
  if (place >= table_.lists * table_.units) return;
  const auto sequence = getLittle<std::uint64_t>(block, 0);
  if (sequence > kMaxSequence || sequence % table_.units != place % table_.units) return;
  List& list = lists_[place / table_.units];
  list.sequence = std::max(list.sequence, sequence);
}

bool ListWriter::append(std::uint32_t list, std::span<const std::uint8_t> entry) {
  List& end = lists_[list];
  if ((end.newest == kNone || isFull(end)) && !begin(end, list)) return false;
  const auto block = bytesOf(end.newest);
  const auto place = block.subspan(kListHeadBytes + end.count * std::size_t{table_.value_bytes},
                                   table_.value_bytes);
  std::fill(std::copy(entry.begin(), entry.end(), place.begin()), place.end(), 0);
  ++end.count;
  markDirty(end.newest);
  full_ += isFull(end) ? 1 : 0;
  return true;
}

// The entries are sealed once for all that came since the last time: a checksum for each would cost
// more than everything else. Only the newest block of a list can be unfinished.
void ListWriter::seal(const List& list, std::uint32_t block) {
  const std::uint16_t count = block == list.newest ? list.count : room_;
  sealBlock(table_, bytesOf(block), {blocks_[block].sequence, count});
}

// Begins the list's next block. Returns false if there is none for it.
bool ListWriter::begin(List& list, std::uint32_t number) {
  // As many free blocks are kept as there are lists without one.
  const bool first = list.held == 0;
  if (list.held == most_held_ || free_count_ == 0 || (!first && free_count_ <= without_))
    return false;
  const std::uint32_t index = free_;
  Block& block = blocks_[index];
  free_ = block.next;
  --free_count_;
  without_ -= first ? 1 : 0;
  block = {++list.sequence, number, kNone, 0, false};
  (first ? list.oldest : blocks_[list.newest].next) = index;
  list.newest = index;
  list.count = 0;
  const bool was_crowded = isCrowded(list);
  ++list.held;
  crowded_ += !was_crowded && isCrowded(list) ? 1 : 0;
  const auto bytes = bytesOf(index);
  std::fill(bytes.begin(), bytes.end(), 0);
  return true;
}

void ListWriter::markDirty(std::uint32_t block) {
  blocks_[block].dirty = true;
  List& list = lists_[blocks_[block].list];
  if (std::exchange(list.changed, true)) return;
  changed_.push_back(blocks_[block].list);
}

bool ListWriter::isDirty(const List& list) const {
  for (std::uint32_t i = list.oldest; i != kNone; i = blocks_[i].next) {
    if (blocks_[i].dirty) return true;
  }
  return false;
}

void ListWriter::arrived(std::span<const std::uint8_t> block) {
  Block& done = blocks_[blockAt(block)];
  --done.under_way;
  release(lists_[done.list]);
}

void ListWriter::failed(std::span<const std::uint8_t> block) {
  const std::uint32_t index = blockAt(block);
  --blocks_[index].under_way;
  markDirty(index);
}

// Frees the list's oldest blocks that are full and have arrived.
void ListWriter::release(List& list) {
  while (list.oldest != kNone) {
    const std::uint32_t index = list.oldest;
    Block& block = blocks_[index];
    const bool grows = index == list.newest && !isFull(list);
    if (grows || block.dirty || block.under_way != 0) return;
    list.oldest = block.next;
    if (list.oldest == kNone) list.newest = kNone;
    block.next = free_;
    free_ = index;
    ++free_count_;
    const bool was_crowded = isCrowded(list);
    --list.held;
    crowded_ -= was_crowded && !isCrowded(list) ? 1 : 0;
    without_ += list.held == 0 ? 1 : 0;
  }
}

std::uint64_t ListWriter::offsetOf(const Block& block) const {
  return table_.offset + blockOffset(table_, block.list, block.sequence);
}

}  // namespace pingloom::store
