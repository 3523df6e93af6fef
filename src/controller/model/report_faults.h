// The reasons for refusing a part of a batch. The API, the metrics and docs/control-messages.md
// count them by these names.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pingloom::controller {

enum class ReportFault : std::uint8_t {
  kBatch,          // the batch: malformed, unnamed, of a later incarnation, too many reports
  kMalformed,      // a report is no protobuf message, or its head is too long
  kHead,           // the fields of its head: out of range
  kFutureWindow,   // its window has not ended yet, by far
  kForeignSource,  // its source is not an address of the agent
  kRows,           // a row is malformed, out of range, or contradicts itself
};

constexpr std::array<std::string_view, 6> kReportFaultNames = {
    "batch", "malformed", "head", "future_window", "foreign_source", "rows"};

using ReportFaults = std::array<std::uint64_t, kReportFaultNames.size()>;

}  // namespace pingloom::controller
