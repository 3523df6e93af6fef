#include "controller/model/row_packer.h"

#include <cstring>

#include "controller/model/packed_layout.h"

namespace pingloom::controller {
namespace {

using namespace packed;

// Returns the code of the width in which the number fits: 2^code bytes.
constexpr std::uint32_t widthOf(std::uint64_t number) {
  const auto bits = static_cast<std::uint32_t>(std::bit_width(number));
  if (bits <= 8) return 0;
  return bits <= 16 ? 1U : bits <= 32 ? 2U : 3U;
}
template <typename Number>
char* writeNumber(std::uint64_t number, char* at) {
  const auto narrow = static_cast<Number>(number);
  std::memcpy(at, &narrow, sizeof narrow);
  return at + sizeof narrow;
}

// Each number but the first two is the difference to one that is not larger. Differences of a
// summary that contradicts itself wrap, and wrap again where they are read.
std::uint64_t anyBitOf(const Summary& part, std::uint32_t received) {
  return (received - part.count) | part.min | (part.mean - part.min) | (part.p50 - part.min) |
         (part.p95 - part.p50) | (part.p99 - part.p95) | (part.max - part.p99);
}

template <typename Number>
void writePart(const Summary& part, std::uint32_t received, char* at) {
  at = writeNumber<Number>(received - part.count, at);
  at = writeNumber<Number>(part.min, at);
  at = writeNumber<Number>(part.mean - part.min, at);
  at = writeNumber<Number>(part.p50 - part.min, at);
  at = writeNumber<Number>(part.p95 - part.p50, at);
  at = writeNumber<Number>(part.p99 - part.p95, at);
  writeNumber<Number>(part.max - part.p99, at);
}

// The counts that are there, in the order of their bits.
struct RowNumbers {
  std::array<std::uint64_t, kRowNumbers> values;  // those behind `size` are unspecified
  std::size_t size = 0;
  std::uint32_t bits = 0;
  std::uint64_t any = 0;

  void add(std::size_t bit, std::uint32_t number) {
    if (number != 0) addAny(bit, number);
  }
  void addAny(std::size_t bit, std::uint32_t number) {
    bits |= 1U << bit;
    any |= number;
    values[size++] = number;
  }
};

// Each count is named, as in packed_row.cpp.
RowNumbers rowNumbersOf(const Row& row) {
  static_assert(kAnomalies == 4);
  RowNumbers made;
  made.add(0, row.sent);
  made.add(1, row.received);
  made.add(2, row.lost);
  made.add(3, row.refused);
  made.add(4, row.unreachable);
  made.add(5, row.ack_lost);
  made.add(6, row.duplicate);
  made.add(7, row.late);
  made.add(8, row.misfit);
  made.add(9, row.skipped);
  made.add(kFirstAnomalyBit, row.anomalous[0]);
  made.add(kFirstAnomalyBit + 1, row.anomalous[1]);
  made.add(kFirstAnomalyBit + 2, row.anomalous[2]);
  made.add(kFirstAnomalyBit + 3, row.anomalous[3]);
  if (row.inbound) made.addAny(kInboundBit, *row.inbound);
  return made;
}

}  // namespace

PackedRow RowPacker::pack(const Row& row) {
  const RowNumbers counts = rowNumbersOf(row);
  std::uint32_t head = counts.bits | (widthOf(counts.any) << kCountWidth);
  char* at = withWidth(countWidthIn(head), [&](auto number) {
    char* next = bytes_.data();
    for (std::size_t i = 0; i < counts.size; ++i) {
      next = writeNumber<decltype(number)>(counts.values[i], next);
    }
    return next;
  });
  if (row.jitter_ns) {
    head |= 1U << kJitterBit;
    std::memcpy(at, &*row.jitter_ns, sizeof *row.jitter_ns);
    at += sizeof *row.jitter_ns;
  }
  for (std::size_t i = 0; i < kRowParts.size(); ++i) {
    const Summary& part = row.*kRowParts[i];
    if (part.count == 0) continue;
    const std::uint32_t width = widthOf(anyBitOf(part, row.received));
    head |= (1U << (kFirstPartBit + i)) | (width << (kFirstPartWidth + 2 * i));
    withWidth(width, [&](auto number) { writePart<decltype(number)>(part, row.received, at); });
    at += kPartNumbers << width;
  }
  return {head, bytes_.data()};
}

}  // namespace pingloom::controller
