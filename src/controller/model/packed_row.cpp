#include "controller/model/packed_row.h"

#include <algorithm>
#include <array>
#include <limits>

#include "controller/model/packed_layout.h"

namespace pingloom::controller {
namespace {

using namespace packed;

template <typename Number>
void readSummary(const char* at, std::uint32_t received, Summary& out) {
  out.count = received - numberAt<Number>(at, 0);
  out.min = numberAt<Number>(at, 1);
  out.mean = out.min + numberAt<Number>(at, 2);
  out.p50 = out.min + numberAt<Number>(at, 3);
  out.p95 = out.p50 + numberAt<Number>(at, 4);
  out.p99 = out.p95 + numberAt<Number>(at, 5);
  out.max = out.p99 + numberAt<Number>(at, 6);
}

// Reads the counts that are there; returns the end. The others of `out` stay.
template <typename Number>
const char* readCounts(std::uint32_t head, const char* at, std::uint32_t* out) {
  for (std::uint32_t left = countBits(head); left != 0; left &= left - 1) {
    out[std::countr_zero(left)] = static_cast<std::uint32_t>(numberAt<Number>(at, 0));
    at += sizeof(Number);
  }
  return at;
}

using CountsByBit = std::array<std::uint32_t, kRowNumbers>;

const char* readCounts(std::uint32_t head, const char* at, CountsByBit& out) {
  out = {};
  return withWidth(countWidthIn(head),
                   [&](auto number) { return readCounts<decltype(number)>(head, at, out.data()); });
}

// Here and in RowPacker each count is named, because a loop over their members took three
// times as many instructions.
void setCounts(std::uint32_t head, const CountsByBit& counts, RowCounts& out) {
  out.sent = counts[0];
  out.received = counts[1];
  out.lost = counts[2];
  out.refused = counts[3];
  out.unreachable = counts[4];
  out.ack_lost = counts[5];
  out.duplicate = counts[6];
  out.late = counts[7];
  out.misfit = counts[8];
  out.skipped = counts[9];
  std::copy_n(counts.begin() + kFirstAnomalyBit, kAnomalies, out.anomalous.begin());
  if (hasBit(head, kInboundBit)) out.inbound = counts[kInboundBit];
}

// The counts that PairCounts has.
constexpr std::uint32_t kStateBits =
    0x1FU | 1U << 8U | ((1U << kAnomalies) - 1) << kFirstAnomalyBit;

}  // namespace

std::size_t PackedRow::restBytes() const {
  return countAndJitterBytesIn(head_) + allPartBytesIn(head_);
}

std::uint32_t PackedRow::countAt(std::size_t index) const {
  return withWidth(countWidthIn(head_), [&](auto number) {
    return static_cast<std::uint32_t>(numberAt<decltype(number)>(rest_, index));
  });
}

RowCounts PackedRow::counts() const {
  CountsByBit counts;
  RowCounts made;
  (void)readCounts(head_, rest_, counts);
  setCounts(head_, counts, made);
  return made;
}

bool PackedRow::countsFit() const {
  const std::size_t bytes = countBytesIn(head_);
  for (std::size_t i = 0; countWidthIn(head_) == 3 && i < bytes / sizeof(std::uint64_t); ++i) {
    if (numberAt<std::uint64_t>(rest_, i) > std::numeric_limits<std::uint32_t>::max()) return false;
  }
  return true;
}

Summary PackedRow::part(RowPart which) const {
  Summary made;
  if (!has(which)) return made;
  const auto part = static_cast<std::size_t>(which);
  const char* at = rest_ + countAndJitterBytesIn(head_);
  for (std::size_t i = 0; i < part; ++i) at += partBytesIn(head_, i);
  const std::uint32_t received = hasBit(head_, 1) ? countAt(head_ & 1U) : 0;
  withWidth(partWidthIn(head_, part),
            [&](auto number) { readSummary<decltype(number)>(at, received, made); });
  return made;
}

std::optional<std::uint64_t> PackedRow::jitter() const {
  if (!hasBit(head_, kJitterBit)) return std::nullopt;
  return numberAt<std::uint64_t>(rest_ + countBytesIn(head_), 0);
}

Row PackedRow::row() const {
  CountsByBit counts;
  Row made;
  const char* at = readCounts(head_, rest_, counts);
  setCounts(head_, counts, made);
  if (hasBit(head_, kJitterBit)) {
    made.jitter_ns = numberAt<std::uint64_t>(at, 0);
    at += sizeof(std::uint64_t);
  }
  for (std::size_t i = 0; i < kRowParts.size(); ++i) {
    if (!hasPart(i)) continue;
    Summary& part = made.*kRowParts[i];
    withWidth(partWidthIn(head_, i),
              [&](auto number) { readSummary<decltype(number)>(at, made.received, part); });
    at += kPartNumbers << partWidthIn(head_, i);
  }
  return made;
}

// Most pairs have neither failed nor odd exchanges, which takes no look at every count.
PairCounts countsOf(const PackedRow& row) {
  constexpr std::uint32_t kWell = 3;
  const std::uint32_t head = row.head();
  if ((head & kStateBits) == kWell) {
    PairCounts made;
    withWidth(countWidthIn(head), [&](auto number) {
      made.sent = static_cast<std::uint32_t>(numberAt<decltype(number)>(row.rest(), 0));
      made.received = static_cast<std::uint32_t>(numberAt<decltype(number)>(row.rest(), 1));
    });
    made.timed = row.has(RowPart::kNetwork) ? 1U : 0U;
    return made;
  }
  return countsOf(row.counts(), row.has(RowPart::kNetwork));
}

RowFigures figuresOf(const PackedRow& row) {
  RowFigures made;
  const std::uint32_t head = row.head();
  made.counts = countsOf(row);
  made.measured = (head >> kFirstPartBit) & ((1U << kRowParts.size()) - 1);
  made.has_jitter = hasBit(head, kJitterBit);
  const char* at = row.rest() + countBytesIn(head);
  if (made.has_jitter) {
    made.jitter_ns = numberAt<std::uint64_t>(at, 0);
    at += sizeof(std::uint64_t);
  }
  for (std::size_t i = 0; i < kRowParts.size(); ++i) {
    if (!row.hasPart(i)) continue;
    withWidth(partWidthIn(head, i), [&](auto number) {
      made.p50[i] = numberAt<decltype(number)>(at, 1) + numberAt<decltype(number)>(at, 3);
    });
    at += kPartNumbers << partWidthIn(head, i);
  }
  return made;
}

}  // namespace pingloom::controller
