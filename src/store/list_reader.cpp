#include "store/list_reader.h"

#include <algorithm>
#include <array>
#include <optional>

#include "store/keyed_reader.h"
#include "store/list_block.h"

namespace pingloom::store {
namespace {

// Blocks that one call reads, whatever the writer has put there.
constexpr std::size_t kMaxBlocks = 10'000;
// Where an answer depends on one block, which may be written just now.
constexpr int kPatientAttempts = 100;

using BlockCopy = std::array<std::uint8_t, kBlockBytes>;

// Reads the block where `sequence` belongs; nullopt if it stays half written.
std::optional<ListBlock> copyBlock(const Table& table, const TableMemory& memory,
                                   std::uint32_t list, std::uint64_t sequence, BlockCopy& copy) {
  std::optional<ListBlock> head;
  for (int attempt = 0; attempt < kReadAttempts && !head; ++attempt) {
    memory.read(blockOffset(table, list, sequence), copy);
    head = readBlock(table, copy);
  }
  return head;
}

// The same, but with as much patience as it takes a writer to write the block.
std::optional<ListBlock> copyPatiently(const Table& table, const TableMemory& memory,
                                       std::uint32_t list, std::uint64_t sequence,
                                       BlockCopy& copy) {
  std::optional<ListBlock> head;
  for (int attempt = 0; attempt < kPatientAttempts && !head; ++attempt) {
    head = copyBlock(table, memory, list, sequence, copy);
  }
  return head;
}

// The sequence at the ring's first place. A writer that was killed may have left one block half
// written for good; then the second place tells what the first one had.
std::uint64_t sequenceAtFirst(const Table& table, const TableMemory& memory, std::uint32_t list) {
  BlockCopy copy{};
  if (const auto first = copyPatiently(table, memory, list, 0, copy)) return first->sequence;
  const auto second = copyPatiently(table, memory, list, 1, copy);
  return second && second->sequence > 1 ? second->sequence - 1 : 0;
}

// The sequence of the newest block; 0 if there is none. The blocks from the ring's first one on
// have ascending sequences up to the newest, so it is found by bisection.
std::uint64_t newestBlock(const Table& table, const TableMemory& memory, std::uint32_t list) {
  BlockCopy copy{};
  const std::uint64_t base = sequenceAtFirst(table, memory, list);
  const auto reached = [&](std::uint64_t place, bool& readable) {
    const auto there = copyBlock(table, memory, list, place, copy);
    readable = there.has_value();
    return there && there->sequence >= base + place;
  };
  std::uint64_t newest = 0;
  std::uint64_t end = table.units;
  while (newest + 1 < end) {
    const std::uint64_t middle = newest + (end - newest) / 2;
    bool readable = true;
    if (reached(middle, readable)) {
      newest = middle;
    } else if (!readable && middle + 1 < end && reached(middle + 1, readable)) {
      newest = middle + 1;  // the one before it was left half written
    } else {
      end = middle;
    }
  }
  return base + newest;
}

std::uint64_t oldestBlock(const Table& table, std::uint64_t newest) {
  // The block behind the newest one is the next to be overwritten.
  return newest + 2 > table.units ? newest + 2 - table.units : 1;
}

// Whether a later block follows the one with this sequence, so that the writer is done with it.
bool isFollowed(const Table& table, const TableMemory& memory, std::uint32_t list,
                std::uint64_t sequence) {
  BlockCopy copy{};
  const auto following = copyBlock(table, memory, list, sequence + 1, copy);
  return following && following->sequence > sequence;
}

// Goes on where the cursor's block cannot be read or is a later one. Returns false if the cursor's
// block may still come.
bool skipMissing(const Table& table, const TableMemory& memory, std::uint32_t list,
                 const std::optional<ListBlock>& head, Tail& tail) {
  const std::uint64_t room = entriesPerBlock(table.value_bytes);
  ListCursor next{tail.next.sequence + 1, 0};
  if (head) {
    if (head->sequence < tail.next.sequence) return false;  // it is not there yet
    next = beginOfList(table, memory, list);                // lapped
    if (next.sequence <= tail.next.sequence) return false;
  } else {
    // A block that stays half written before another one was left so by a writer that was killed.
    BlockCopy copy{};
    if (!isFollowed(table, memory, list, tail.next.sequence)) return false;
    if (copyPatiently(table, memory, list, tail.next.sequence, copy)) return true;
  }
  tail.lost +=
      (next.sequence - tail.next.sequence) * room - std::min<std::uint64_t>(tail.next.entry, room);
  tail.next = next;
  return true;
}

}  // namespace

ListCursor endOfList(const Table& table, const TableMemory& memory, std::uint32_t list) {
  const std::uint64_t newest = newestBlock(table, memory, list);
  if (newest == 0) return {};
  BlockCopy copy{};
  const auto head = copyPatiently(table, memory, list, newest, copy);
  if (!head || head->sequence != newest) return {newest + 1, 0};
  return {newest, head->count};
}

ListCursor beginOfList(const Table& table, const TableMemory& memory, std::uint32_t list) {
  const std::uint64_t oldest = oldestBlock(table, newestBlock(table, memory, list));
  return {std::max<std::uint64_t>(oldest, 1), 0};
}

Tail readTail(const Table& table, const TableMemory& memory, std::uint32_t list, ListCursor from,
              std::size_t most, const std::function<void(std::span<const std::uint8_t>)>& visit) {
  Tail tail{from, 0, 0};
  const std::uint16_t room = entriesPerBlock(table.value_bytes);
  BlockCopy copy{};
  for (std::size_t read = 0; tail.entries < most && read < kMaxBlocks; ++read) {
    const auto head = copyBlock(table, memory, list, tail.next.sequence, copy);
    if (!head || head->sequence != tail.next.sequence) {
      if (!skipMissing(table, memory, list, head, tail)) break;
      continue;
    }
    for (; tail.next.entry < head->count && tail.entries < most; ++tail.next.entry) {
      visit(std::span(copy).subspan(
          kListHeadBytes + tail.next.entry * std::size_t{table.value_bytes}, table.value_bytes));
      ++tail.entries;
    }
    if (tail.next.entry < head->count) break;
    if (tail.next.entry < room) {
      // A block that is not full may grow, unless another one follows it.
      if (!isFollowed(table, memory, list, tail.next.sequence)) break;
      // It may have grown before the other one came.
      const auto again = copyBlock(table, memory, list, tail.next.sequence, copy);
      if (!again || again->sequence != tail.next.sequence || again->count > tail.next.entry) {
        continue;
      }
    }
    tail.next = {tail.next.sequence + 1, 0};
  }
  return tail;
}

}  // namespace pingloom::store
