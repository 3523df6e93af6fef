// The report packets of the published DTA, as P4 switches send them to UDP port 40040; docs/
// report-format.md has the tables. Their headers exist in two layouts, with and without a sequence,
// and nothing but the length of a packet tells them apart. Big endian. Pure functions; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/report.h"

namespace pingloom::wire {

constexpr std::uint16_t kPublishedDtaPort = 40040;
constexpr std::size_t kMaxPublishedDta = 36;  // bytes

struct PublishedReport {
  // The table is 0, because packets name none. The key of an append is its list. Key and value
  // point into the packet.
  ReportItem report;
  std::optional<std::uint8_t> sequence;  // modulo 256; nullopt if the layout has none
};

// The bytes come from outside. Returns kOperation, kLength, kHop or kIncrement for what is refused.
// Redundancy and flags are ignored.
ReportRefusal parsePublished(std::span<const std::uint8_t> packet, PublishedReport& out);

}  // namespace pingloom::wire
