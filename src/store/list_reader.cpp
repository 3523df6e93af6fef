#include "store/list_reader.h"

#include <algorithm>
#include <array>
#include <optional>

#include "store/keyed_reader.h"
#include "store/list_block.h"
#include "store/shared_read.h"

namespace pingloom::store {
namespace {

// The search for the newest block depends on the first one, which may be written just now.
constexpr int kFirstAttempts = 100;

using BlockCopy = std::array<std::uint8_t, kBlockBytes>;

// Reads the block where `sequence` belongs; nullopt if it stays half written.
std::optional<ListBlock> copyBlock(const Table& table, std::span<const std::uint8_t> memory,
                                   std::uint32_t list, std::uint64_t sequence, BlockCopy& copy) {
  const auto shared = memory.subspan(blockOffset(table, list, sequence), kBlockBytes);
  std::optional<ListBlock> head;
  for (int attempt = 0; attempt < kReadAttempts && !head; ++attempt) {
    copyShared(shared, copy);
    head = readBlock(table, copy);
  }
  return head;
}

// The sequence of the newest block; 0 if there is none. The blocks from the ring's first one on
// have ascending sequences up to the newest, so it is found by bisection.
std::uint64_t newestBlock(const Table& table, std::span<const std::uint8_t> memory,
                          std::uint32_t list) {
  BlockCopy copy{};
  std::optional<ListBlock> first;
  for (int attempt = 0; attempt < kFirstAttempts && !first; ++attempt) {
    first = copyBlock(table, memory, list, 0, copy);
  }
  const std::uint64_t base = first ? first->sequence : 0;
  std::uint64_t newest = 0;
  std::uint64_t end = table.units;
  while (newest + 1 < end) {
    const std::uint64_t middle = newest + (end - newest) / 2;
    const auto there = copyBlock(table, memory, list, middle, copy);
    if (there && there->sequence >= base + middle) {
      newest = middle;
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

}  // namespace

ListCursor endOfList(const Table& table, std::span<const std::uint8_t> memory, std::uint32_t list) {
  const std::uint64_t newest = newestBlock(table, memory, list);
  if (newest == 0) return {};
  BlockCopy copy{};
  const auto head = copyBlock(table, memory, list, newest, copy);
  if (!head || head->sequence != newest) return {newest + 1, 0};
  return {newest, head->count};
}

ListCursor beginOfList(const Table& table, std::span<const std::uint8_t> memory,
                       std::uint32_t list) {
  const std::uint64_t oldest = oldestBlock(table, newestBlock(table, memory, list));
  return {std::max<std::uint64_t>(oldest, 1), 0};
}

Tail readTail(const Table& table, std::span<const std::uint8_t> memory, std::uint32_t list,
              ListCursor from, std::size_t most,
              const std::function<void(std::span<const std::uint8_t>)>& visit) {
  Tail tail{from, 0, 0};
  const std::uint16_t room = entriesPerBlock(table.value_bytes);
  BlockCopy copy{};
  while (tail.entries < most) {
    const auto head = copyBlock(table, memory, list, tail.next.sequence, copy);
    if (!head || head->sequence < tail.next.sequence) break;  // it is not there yet
    if (head->sequence > tail.next.sequence) {                // lapped
      const ListCursor begin = beginOfList(table, memory, list);
      if (begin.sequence <= tail.next.sequence) break;
      tail.lost += (begin.sequence - tail.next.sequence) * room -
                   std::min<std::uint64_t>(tail.next.entry, room);
      tail.next = begin;
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
      const auto following = copyBlock(table, memory, list, tail.next.sequence + 1, copy);
      if (!following || following->sequence <= tail.next.sequence) break;
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
