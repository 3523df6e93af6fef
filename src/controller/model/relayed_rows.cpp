#include "controller/model/relayed_rows.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>

#include "controller/model/report_reader.h"

namespace pingloom::controller {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are little-endian as they are");

static_assert(sizeof(Row) == 304, "a new field has to be told, too");

// The bits of a row's head.
constexpr std::array<std::uint32_t Row::*, 10> kRelayedCounts = {
    &Row::sent,     &Row::received,  &Row::lost, &Row::refused, &Row::unreachable,
    &Row::ack_lost, &Row::duplicate, &Row::late, &Row::misfit,  &Row::skipped};
constexpr std::size_t kFirstAnomalyBit = kRelayedCounts.size();
constexpr std::size_t kInboundBit = kFirstAnomalyBit + kAnomalies;
constexpr std::size_t kRowNumbers = kInboundBit + 1;
constexpr std::size_t kJitterBit = kRowNumbers;
constexpr std::size_t kFirstPartBit = kJitterBit + 1;
constexpr std::size_t kWideAddressBit = kFirstPartBit + kRowParts.size();
constexpr std::size_t kReservedBit = kWideAddressBit + 1;
constexpr std::size_t kCountWidth = kReservedBit + 1;
constexpr std::size_t kFirstPartWidth = kCountWidth + 2;
static_assert(kFirstPartWidth + 2 * kRowParts.size() == 32);

constexpr std::size_t kPartNumbers = 7;
using PartNumbers = std::array<std::uint64_t, kPartNumbers>;

static_assert(kMaxRelayedRow == 4 + 16 + 4 * kRowNumbers + 8 + 8 * kPartNumbers * kRowParts.size());

constexpr bool hasBit(std::uint32_t head, std::size_t bit) { return ((head >> bit) & 1U) != 0; }

// Returns the code of the width in which the number fits: 2^code bytes.
constexpr std::uint32_t widthOf(std::uint64_t number) {
  const auto bits = static_cast<std::uint32_t>(std::bit_width(number));
  if (bits <= 8) return 0;
  return bits <= 16 ? 1U : bits <= 32 ? 2U : 3U;
}
constexpr std::size_t widthIn(std::uint32_t head, std::size_t width) {
  return std::size_t{1} << ((head >> width) & 3U);
}

template <typename Number>
char* writeNumbersAs(std::span<const std::uint64_t> numbers, char* at) {
  for (const std::uint64_t number : numbers) {
    const auto narrow = static_cast<Number>(number);
    std::memcpy(at, &narrow, sizeof narrow);
    at += sizeof narrow;
  }
  return at;
}

char* writeNumbers(std::span<const std::uint64_t> numbers, std::size_t bytes, char* at) {
  switch (bytes) {
    case 1:
      return writeNumbersAs<std::uint8_t>(numbers, at);
    case 2:
      return writeNumbersAs<std::uint16_t>(numbers, at);
    case 4:
      return writeNumbersAs<std::uint32_t>(numbers, at);
    default:
      return writeNumbersAs<std::uint64_t>(numbers, at);
  }
}

template <typename Number>
void readNumbersAs(const char* at, std::span<std::uint64_t> numbers) {
  for (std::uint64_t& number : numbers) {
    Number narrow = 0;
    std::memcpy(&narrow, at, sizeof narrow);
    number = narrow;
    at += sizeof narrow;
  }
}

// REQUIRES: the bytes are there.
void readNumbers(const char* at, std::size_t bytes, std::span<std::uint64_t> numbers) {
  switch (bytes) {
    case 1:
      return readNumbersAs<std::uint8_t>(at, numbers);
    case 2:
      return readNumbersAs<std::uint16_t>(at, numbers);
    case 4:
      return readNumbersAs<std::uint32_t>(at, numbers);
    default:
      return readNumbersAs<std::uint64_t>(at, numbers);
  }
}

// Each number but the first two is the difference to one that is not larger.
PartNumbers differencesOf(const Summary& part, std::uint32_t received) {
  return {received - part.count, part.min,
          part.mean - part.min,  part.p50 - part.min,
          part.p95 - part.p50,   part.p99 - part.p95,
          part.max - part.p99};
}

// Returns whether the numbers are those of a summary. REQUIRES: they are there.
template <typename Number>
bool readSummaryAs(const char* at, std::uint32_t received, Summary& out) {
  std::array<Number, kPartNumbers> in;
  std::memcpy(in.data(), at, sizeof in);
  if (in[0] >= received) return false;
  out.count = received - static_cast<std::uint32_t>(in[0]);
  out.min = in[1];
  out.mean = out.min + in[2];
  out.p50 = out.min + in[3];
  out.p95 = out.p50 + in[4];
  out.p99 = out.p95 + in[5];
  out.max = out.p99 + in[6];
  if (out.mean > out.max) return false;
  if constexpr (sizeof(Number) < sizeof(std::uint64_t)) return true;  // no sum can have wrapped
  return out.min <= out.p50 && out.p50 <= out.p95 && out.p95 <= out.p99 && out.p99 <= out.max &&
         out.min <= out.mean;
}

bool readSummary(const char* at, std::size_t bytes, std::uint32_t received, Summary& out) {
  switch (bytes) {
    case 1:
      return readSummaryAs<std::uint8_t>(at, received, out);
    case 2:
      return readSummaryAs<std::uint16_t>(at, received, out);
    case 4:
      return readSummaryAs<std::uint32_t>(at, received, out);
    default:
      return readSummaryAs<std::uint64_t>(at, received, out);
  }
}

// The counts that are there, in the order of their bits.
struct RowNumbers {
  std::array<std::uint64_t, kRowNumbers> values;  // those behind `size` are unspecified
  std::size_t size = 0;
  std::uint32_t bits = 0;

  void add(std::size_t bit, std::uint32_t number) {
    bits |= 1U << bit;
    values[size++] = number;
  }
  std::span<const std::uint64_t> all() const { return {values.data(), size}; }
};

RowNumbers rowNumbersOf(const Row& row) {
  RowNumbers made;
  for (std::size_t i = 0; i < kRelayedCounts.size(); ++i) {
    if (row.*kRelayedCounts[i] != 0) made.add(i, row.*kRelayedCounts[i]);
  }
  for (std::size_t i = 0; i < kAnomalies; ++i) {
    if (row.anomalous[i] != 0) made.add(kFirstAnomalyBit + i, row.anomalous[i]);
  }
  if (row.inbound) made.add(kInboundBit, *row.inbound);
  return made;
}

std::uint32_t widthOf(std::span<const std::uint64_t> numbers) {
  std::uint64_t any = 0;
  for (const std::uint64_t number : numbers) any |= number;
  return widthOf(any);
}

// Returns whether the counts are in range.
bool setCounts(std::uint32_t head, const std::uint64_t* next, Row& out) {
  for (const auto count : kRelayedCounts) out.*count = 0;
  out.anomalous = {};
  out.inbound.reset();
  for (std::uint32_t left = head & ((1U << kRowNumbers) - 1); left != 0; left &= left - 1) {
    if (*next > std::numeric_limits<std::uint32_t>::max()) return false;
    const auto number = static_cast<std::uint32_t>(*next++);
    const auto bit = static_cast<std::size_t>(std::countr_zero(left));
    if (bit < kFirstAnomalyBit) {
      out.*kRelayedCounts[bit] = number;
    } else if (bit < kInboundBit) {
      out.anomalous[bit - kFirstAnomalyBit] = number;
    } else {
      out.inbound = number;
    }
  }
  return true;
}

std::size_t sizeBehindAddress(std::uint32_t head, std::size_t counts) {
  std::size_t size = counts * widthIn(head, kCountWidth) + (hasBit(head, kJitterBit) ? 8 : 0);
  for (std::size_t part = 0; part < kRowParts.size(); ++part) {
    if (hasBit(head, kFirstPartBit + part)) {
      size += kPartNumbers * widthIn(head, kFirstPartWidth + 2 * part);
    }
  }
  return size;
}

}  // namespace

void appendRelayedRow(const IpAddress& destination, const Row& row, std::string& out) {
  const RowNumbers counts = rowNumbersOf(row);
  std::uint32_t head = counts.bits | (widthOf(counts.all()) << kCountWidth);
  std::array<char, kMaxRelayedRow> bytes;
  char* at = bytes.data() + sizeof head;
  const std::size_t address = destination.isV4() ? 4 : 16;
  if (address == 16) head |= 1U << kWideAddressBit;
  std::memcpy(at, destination.bytes().data(), address);
  at = writeNumbers(counts.all(), widthIn(head, kCountWidth), at + address);
  if (row.jitter_ns) {
    head |= 1U << kJitterBit;
    std::memcpy(at, &*row.jitter_ns, sizeof *row.jitter_ns);
    at += sizeof *row.jitter_ns;
  }
  for (std::size_t part = 0; part < kRowParts.size(); ++part) {
    const Summary& summary = row.*kRowParts[part];
    if (summary.count == 0) continue;
    const PartNumbers numbers = differencesOf(summary, row.received);
    const std::size_t width = kFirstPartWidth + 2 * part;
    head |= (1U << (kFirstPartBit + part)) | (widthOf(numbers) << width);
    at = writeNumbers(numbers, widthIn(head, width), at);
  }
  std::memcpy(bytes.data(), &head, sizeof head);
  out.append(bytes.data(), at);
}

Result<IpAddress> RelayedRowReader::destination() {
  if (rest_.size() < sizeof head_) return makeError("row", "is truncated");
  std::memcpy(&head_, rest_.data(), sizeof head_);
  if (hasBit(head_, kReservedBit)) return makeError("row", "has a field that is not known");
  const std::size_t address = hasBit(head_, kWideAddressBit) ? 16 : 4;
  if (rest_.size() - sizeof head_ < address) return makeError("row", "is truncated");
  auto made = IpAddress::fromWire(rest_.substr(sizeof head_, address));
  rest_.remove_prefix(sizeof head_ + address);
  return made;
}

Status RelayedRowReader::row(Row& out) {
  const auto known = static_cast<std::size_t>(std::popcount(head_ & ((1U << kRowNumbers) - 1)));
  const std::size_t size = sizeBehindAddress(head_, known);
  if (rest_.size() < size) return makeError("row", "is truncated");
  const char* at = rest_.data();
  rest_.remove_prefix(size);
  std::array<std::uint64_t, kRowNumbers> counts;
  readNumbers(at, widthIn(head_, kCountWidth), std::span(counts).first(known));
  at += known * widthIn(head_, kCountWidth);
  if (!setCounts(head_, counts.data(), out)) return makeError("row", "a count is out of range");
  if (auto status = checkCounts(out); !status) return status;
  out.jitter_ns.reset();
  if (hasBit(head_, kJitterBit)) {
    std::memcpy(&out.jitter_ns.emplace(), at, sizeof(std::uint64_t));
    at += sizeof(std::uint64_t);
  }
  for (std::size_t part = 0; part < kRowParts.size(); ++part) {
    if (!hasBit(head_, kFirstPartBit + part)) {
      out.*kRowParts[part] = {};
      continue;
    }
    const std::size_t bytes = widthIn(head_, kFirstPartWidth + 2 * part);
    if (!readSummary(at, bytes, out.received, out.*kRowParts[part])) {
      return makeError("row", "samples do not match what was received, or contradict themselves");
    }
    at += kPartNumbers * bytes;
  }
  return {};
}

}  // namespace pingloom::controller
