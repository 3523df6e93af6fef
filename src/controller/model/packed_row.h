// Rows as bytes, which take a third of the memory of a Row: so Rows keeps them, and so controllers
// tell them to each other (docs/control-messages.md, "RelayedBatch", with the destination behind
// the head). Views; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "controller/model/row.h"

namespace pingloom::controller {

// Bytes; the most that one row takes behind its head.
constexpr std::size_t kMaxPackedRest = 4 * 15 + 8 + 8 * 7 * kRowParts.size();
// The head's bits that say nothing about the row.
constexpr std::uint32_t kUnusedHeadBits = 3U << 20U;

// A view of a row, which reads no more of it than is asked for.
class PackedRow {
 public:
  PackedRow() = default;  // that of a pair without a window: all of it is 0 or absent
  // REQUIRES: the bytes behind the head outlive the view.
  PackedRow(std::uint32_t head, const char* rest) : head_(head), rest_(rest) {}

  std::uint32_t head() const { return head_; }
  const char* rest() const { return rest_; }
  std::size_t restBytes() const;

  bool hasWindow() const { return sent() != 0; }
  std::uint32_t sent() const { return (head_ & 1U) == 0 ? 0 : countAt(0); }
  RowCounts counts() const;
  bool countsFit() const;  // false: one is larger than 32 bits, and counts() truncates it
  bool has(RowPart part) const { return hasPart(static_cast<std::size_t>(part)); }
  bool hasPart(std::size_t part) const { return (head_ >> (16 + part) & 1U) != 0; }
  Summary part(RowPart part) const;
  std::optional<std::uint64_t> jitter() const;
  Row row() const;

  // Returns one of the counts that are not 0, in the order of their bits. REQUIRES: it is there.
  std::uint32_t countAt(std::size_t index) const;

 private:
  std::uint32_t head_ = 0;
  const char* rest_ = nullptr;
};

PairCounts countsOf(const PackedRow& row);
RowFigures figuresOf(const PackedRow& row);

}  // namespace pingloom::controller
