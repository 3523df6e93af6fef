#include "controller/model/relayed_rows.h"

#include <array>
#include <cstring>

#include "controller/model/packed_layout.h"
#include "controller/model/report_reader.h"

namespace pingloom::controller {
namespace {

// The bits of a row's head that are unused where it is kept.
constexpr std::uint32_t kWideAddress = 1U << 20U;
constexpr std::size_t kHeadBytes = sizeof(std::uint32_t);
constexpr std::uint32_t kReserved = 1U << 21U;
static_assert((kWideAddress | kReserved) == kUnusedHeadBits);
static_assert(kMaxRelayedRow == kHeadBytes + 16 + kMaxPackedRest);

bool isSummary(const Summary& part, std::uint32_t received) {
  return part.count > 0 && part.count <= received && part.min <= part.p50 && part.p50 <= part.p95 &&
         part.p95 <= part.p99 && part.p99 <= part.max && part.min <= part.mean &&
         part.mean <= part.max;
}

// Each number but the first two is a difference that is added, and sums of numbers narrower than 8
// bytes do not overflow, so only the count of samples and the mean can contradict the others.
template <typename Number>
bool isNarrowSummary(const char* at, std::uint32_t received) {
  std::uint64_t max_over_min = 0;
  for (std::size_t i = 3; i < packed::kPartNumbers; ++i) {
    max_over_min += packed::numberAt<Number>(at, i);
  }
  return packed::numberAt<Number>(at, 0) < received &&
         packed::numberAt<Number>(at, 2) <= max_over_min;
}

// Sets `received`, and returns why the counts are refused, or nullptr. Nearly all rows have no
// other counts than what was sent, received and, behind them, inbound.
const char* checkPackedCounts(const PackedRow& row, std::uint32_t& received) {
  constexpr std::uint32_t kUsualCounts = 3;
  constexpr std::uint32_t kInbound = 1U << packed::kInboundBit;
  if (!row.countsFit()) return "a count is out of range";
  if ((packed::countBits(row.head()) & ~kInbound) == kUsualCounts &&
      row.countAt(0) == row.countAt(1)) {
    received = row.countAt(1);
    return nullptr;
  }
  const RowCounts counts = row.counts();
  received = counts.received;
  return faultOf(counts);
}

// Reads the numbers where they are, because unpacking a row takes longer than keeping it. Returns
// why the row is refused, or nullptr.
const char* faultOf(const PackedRow& row) {
  std::uint32_t received = 0;
  if (const char* fault = checkPackedCounts(row, received)) return fault;
  const char* at = row.rest() + packed::countAndJitterBytesIn(row.head());
  for (std::size_t part = 0; part < kRowParts.size(); ++part) {
    if (!row.hasPart(part)) continue;
    const bool fits = packed::withWidth(packed::partWidthIn(row.head(), part), [&](auto number) {
      using Stored = decltype(number);
      if constexpr (sizeof(Stored) == sizeof(std::uint64_t)) {
        return isSummary(row.part(static_cast<RowPart>(part)), received);
      } else {
        return isNarrowSummary<Stored>(at, received);
      }
    });
    if (!fits) return "samples do not match what was received, or contradict themselves";
    at += packed::partBytesIn(row.head(), part);
  }
  return nullptr;
}

}  // namespace

void appendRelayedRow(const IpAddress& destination, const PackedRow& row, std::string& out) {
  const bool wide = !destination.isV4();
  const std::uint32_t head = row.head() | (wide ? kWideAddress : 0);
  std::array<char, kHeadBytes + 16> start;
  std::memcpy(start.data(), &head, sizeof head);
  const std::size_t address = wide ? 16 : 4;
  std::memcpy(start.data() + sizeof head, destination.bytes().data(), address);
  out.append(start.data(), sizeof head + address).append(row.rest(), row.restBytes());
}

bool RelayedRowReader::refuse(const char* reason) {
  rest_ = {};
  status_ = makeError("row", reason);
  return false;
}

bool RelayedRowReader::next(IpAddress& destination, PackedRow& row) {
  if (rest_.empty()) return false;
  std::uint32_t head = 0;
  if (rest_.size() < sizeof head) return refuse("is truncated");
  std::memcpy(&head, rest_.data(), sizeof head);
  if ((head & kReserved) != 0) return refuse("has a field that is not known");
  const std::size_t address = (head & kWideAddress) != 0 ? 16 : 4;
  const std::size_t start = sizeof head + address;
  if (rest_.size() < start) return refuse("is truncated");
  const PackedRow read(head & ~kUnusedHeadBits, rest_.data() + start);
  const std::size_t size = start + read.restBytes();
  if (rest_.size() < size) return refuse("is truncated");
  const auto made = IpAddress::fromWire(rest_.substr(sizeof head, address));
  if (!made) return refuse("bad destination address");
  if (const char* fault = faultOf(read)) return refuse(fault);
  destination = *made;
  row = read;
  rest_.remove_prefix(size);
  return true;
}

}  // namespace pingloom::controller
