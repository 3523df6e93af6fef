#include "controller/model/relayed_rows.h"

#include <array>
#include <cstring>

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

Status check(const PackedRow& packed) {
  if (!packed.countsFit()) return makeError("row", "a count is out of range");
  const Row row = packed.row();
  if (auto status = checkCounts(row); !status) return status;
  for (std::size_t part = 0; part < kRowParts.size(); ++part) {
    if (packed.hasPart(part) && !isSummary(row.*kRowParts[part], row.received)) {
      return makeError("row", "samples do not match what was received, or contradict themselves");
    }
  }
  return {};
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

Result<IpAddress> RelayedRowReader::destination() {
  if (rest_.size() < sizeof head_) return makeError("row", "is truncated");
  std::memcpy(&head_, rest_.data(), sizeof head_);
  if ((head_ & kReserved) != 0) return makeError("row", "has a field that is not known");
  const std::size_t address = (head_ & kWideAddress) != 0 ? 16 : 4;
  if (rest_.size() - sizeof head_ < address) return makeError("row", "is truncated");
  auto made = IpAddress::fromWire(rest_.substr(sizeof head_, address));
  rest_.remove_prefix(sizeof head_ + address);
  return made;
}

Result<PackedRow> RelayedRowReader::row() {
  const PackedRow made(head_ & ~kUnusedHeadBits, rest_.data());
  const std::size_t size = made.restBytes();
  if (rest_.size() < size) return makeError("row", "is truncated");
  rest_.remove_prefix(size);
  if (auto status = check(made); !status) return tl::unexpected(status.error());
  return made;
}

}  // namespace pingloom::controller
