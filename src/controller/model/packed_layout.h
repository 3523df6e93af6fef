// Where the fields of a packed row are (docs/control-messages.md, "RelayedBatch"). PackedRow and
// RowPacker share it. Pure; any thread.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "controller/model/packed_row.h"

namespace pingloom::controller::packed {

static_assert(std::endian::native == std::endian::little, "numbers are little-endian as they are");
static_assert(sizeof(Row) == 304, "a new field has to be packed, too");

constexpr std::size_t kPartNumbers = 7;

// The bits of a row's head.
constexpr std::size_t kPackedCounts = 10;
constexpr std::size_t kFirstAnomalyBit = kPackedCounts;
constexpr std::size_t kInboundBit = kFirstAnomalyBit + kAnomalies;
constexpr std::size_t kRowNumbers = kInboundBit + 1;
constexpr std::size_t kJitterBit = kRowNumbers;
constexpr std::size_t kFirstPartBit = kJitterBit + 1;
constexpr std::size_t kFirstUnusedBit = kFirstPartBit + kRowParts.size();
constexpr std::size_t kCountWidth = kFirstUnusedBit + 2;
constexpr std::size_t kFirstPartWidth = kCountWidth + 2;
static_assert(kFirstPartWidth + 2 * kRowParts.size() == 32);
static_assert(kUnusedHeadBits == 3U << kFirstUnusedBit && kFirstPartBit == 16);

static_assert(kMaxPackedRest == 4 * kRowNumbers + 8 + 8 * kPartNumbers * kRowParts.size());

constexpr bool hasBit(std::uint32_t head, std::size_t bit) { return ((head >> bit) & 1U) != 0; }
constexpr std::uint32_t countBits(std::uint32_t head) { return head & ((1U << kRowNumbers) - 1); }

constexpr std::uint32_t countWidthIn(std::uint32_t head) { return (head >> kCountWidth) & 3U; }
constexpr std::uint32_t partWidthIn(std::uint32_t head, std::size_t part) {
  return (head >> (kFirstPartWidth + 2 * part)) & 3U;
}
// Returns 0 for a part that is not there.
constexpr std::size_t partBytesIn(std::uint32_t head, std::size_t part) {
  return (head >> (kFirstPartBit + part) & 1U) * (kPartNumbers << partWidthIn(head, part));
}
// The bits that are set in each byte, because std::popcount() is a function of libgcc.
constexpr auto kOnes = [] {
  std::array<std::uint8_t, 256> made{};
  for (std::uint32_t i = 0; i < made.size(); ++i) {
    made[i] = static_cast<std::uint8_t>(std::popcount(i));
  }
  return made;
}();
constexpr std::size_t countBytesIn(std::uint32_t head) {
  const std::uint32_t bits = countBits(head);
  return (std::size_t{kOnes[bits & 0xFFU]} + kOnes[bits >> 8U]) << countWidthIn(head);
}

// The bytes of all parts, by what the head says of them: the lower bits tell which are there.
constexpr auto kAllPartBytes = [] {
  constexpr std::size_t kParts = kRowParts.size();
  std::array<std::uint8_t, 1U << (3 * kParts)> made{};
  for (std::uint32_t i = 0; i < made.size(); ++i) {
    const std::uint32_t head = (i >> kParts) << kFirstPartWidth | (i % (1U << kParts))
                                                                      << kFirstPartBit;
    for (std::size_t part = 0; part < kParts; ++part) {
      made[i] = static_cast<std::uint8_t>(made[i] + partBytesIn(head, part));
    }
  }
  return made;
}();
constexpr std::size_t allPartBytesIn(std::uint32_t head) {
  constexpr std::size_t kParts = kRowParts.size();
  const std::uint32_t present = (head >> kFirstPartBit) % (1U << kParts);
  return kAllPartBytes[(head >> kFirstPartWidth) << kParts | present];
}
constexpr std::size_t countAndJitterBytesIn(std::uint32_t head) {
  return countBytesIn(head) + (hasBit(head, kJitterBit) ? sizeof(std::uint64_t) : 0);
}

template <typename Number>
std::uint64_t numberAt(const char* at, std::size_t index) {
  Number number;
  std::memcpy(&number, at + index * sizeof number, sizeof number);
  return number;
}

// Calls `use` with a number of the width that has this code.
template <typename Use>
auto withWidth(std::uint32_t width, const Use& use) {
  switch (width) {
    case 0:
      return use(std::uint8_t{});
    case 1:
      return use(std::uint16_t{});
    case 2:
      return use(std::uint32_t{});
    default:
      return use(std::uint64_t{});
  }
}

}  // namespace pingloom::controller::packed
