// The values of a report datagram; docs/report-format.md has the tables. A datagram is big endian
// and has a head, reports, and optionally a seal. Plain values in host byte order; any thread.
// Needs nothing but the C++ library, because the report library includes it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pingloom::wire {

constexpr std::uint16_t kReportPort = 20716;
constexpr std::uint16_t kReportMagic = 0x5054;  // "PT"
constexpr std::uint8_t kReportVersion = 1;
constexpr std::size_t kReportHeadBytes = 32;
constexpr std::size_t kReportItemHeadBytes = 8;
constexpr std::size_t kReportSealBytes = 8;
constexpr std::size_t kMaxReportDatagram = 1400;       // fits the MTU of Ethernet
constexpr std::size_t kMaxJumboReportDatagram = 8900;  // where both sides are configured for it
constexpr std::size_t kMaxReportKey = 40;
constexpr std::size_t kMaxReportValue = 255;
constexpr std::size_t kReportIncrementBytes = 8;
constexpr std::size_t kReportListBytes = 4;  // the key of an append that names its list
constexpr std::uint64_t kMaxReportIncrement = (std::uint64_t{1} << 48) - 1;

constexpr std::size_t kReportFlagsOffset = 3;  // these are offsets in a datagram
constexpr std::size_t kReportCountOffset = 4;
constexpr std::size_t kReportSequenceOffset = 16;
constexpr std::size_t kReportSkippedOffset = 20;
constexpr std::uint8_t kReportAgain = 1;   // the datagram was sent before
constexpr std::uint8_t kReportSealed = 2;  // the last 8 bytes are a seal
constexpr std::uint8_t kReportKeeps = 4;   // the reporter keeps datagrams and can send them again
constexpr std::uint8_t kReportFlags = kReportAgain | kReportSealed | kReportKeeps;

enum class ReportOperation : std::uint8_t {
  kKeyWrite = 1,
  kAppend = 2,
  kKeyIncrement = 3,
  kPostcard = 4,
};
constexpr std::size_t kReportOperations = 4;
constexpr std::string_view name(ReportOperation operation) {
  constexpr std::array<std::string_view, kReportOperations> kNames = {"key_write", "append",
                                                                      "increment", "postcard"};
  return kNames[static_cast<std::size_t>(operation) - 1];
}

struct ReportHead {
  std::uint8_t flags = 0;
  std::uint16_t reports = 0;  // at least 1
  std::uint16_t length = 0;   // bytes of the datagram, seal included
  std::uint32_t reporter = 0;
  std::uint32_t incarnation = 0;  // random at each start of the reporter
  std::uint32_t sequence = 0;     // from 1, one more with each datagram; it wraps
  std::uint32_t skipped = 0;      // reports that the reporter itself has dropped so far; it wraps
  std::uint64_t oldest_utc = 0;   // UTC nanoseconds of the oldest report
};

// A report. `key` and `value` point into the datagram, or into the writer's memory.
struct ReportItem {
  ReportOperation operation = ReportOperation::kKeyWrite;
  std::uint16_t table = 0;
  std::uint8_t hop = 0;                 // of a postcard, from 0
  std::uint8_t hops = 0;                // of a postcard's path; 0 if they are not known
  std::span<const std::uint8_t> key;    // at most kMaxReportKey
  std::span<const std::uint8_t> value;  // at most kMaxReportValue
};

// The reasons why a datagram or a report is refused. Those up to kOld refuse a datagram as a whole.
enum class ReportRefusal : std::uint8_t {
  kNone,
  kShort,            // fewer bytes than a head
  kMagic,            // not a report datagram
  kVersion,          // another version, or a flag that this version does not have
  kLength,           // the lengths of datagram and reports contradict each other
  kCount,            // there are no reports, or not as many as the head says
  kSeal,             // the seal is wrong, missing, or cannot be checked
  kUnknownReporter,  // the source or the reporter is not configured, or there are too many
  kDuplicate,        // the sequence was taken before
  kOld,              // the sequence is older than the window
  kOperation,        // there is no such operation
  kUnknownTable,     // the store has no such table
  kWrongTable,       // the table is of another kind than the operation
  kKeyLength,
  kValueLength,
  kHop,        // the hop is beyond the hops
  kIncrement,  // the increment is above kMaxReportIncrement
  kList,       // the table has no list of that number
  kForbidden,  // the reporter may not write this table
};
constexpr std::size_t kReportRefusals = 19;
constexpr std::string_view name(ReportRefusal refusal) {
  constexpr std::array<std::string_view, kReportRefusals> kNames = {
      "none",      "short",         "magic",       "version",    "length",
      "count",     "seal",          "reporter",    "duplicate",  "old",
      "operation", "unknown_table", "wrong_table", "key_length", "value_length",
      "hop",       "increment",     "list",        "forbidden"};
  return kNames[static_cast<std::size_t>(refusal)];
}
constexpr bool refusesDatagram(ReportRefusal refusal) {
  return refusal != ReportRefusal::kNone && refusal <= ReportRefusal::kOld;
}

// Keys and values begin at multiples of 4 bytes.
constexpr std::size_t reportPadded(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }
constexpr std::size_t reportBytes(std::size_t key, std::size_t value) {
  return kReportItemHeadBytes + reportPadded(key) + reportPadded(value);
}
static_assert(reportBytes(kMaxReportKey, kMaxReportValue) / 4 <= 255);

}  // namespace pingloom::wire
