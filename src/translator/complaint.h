// What the log says of reporters whose reports do not arrive or are refused. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/address.h"
#include "wire/report.h"

namespace pingloom::translator {

// A datagram, a packet of the published DTA, or a report that was refused.
struct Refused {
  enum class Sender : std::uint8_t {
    kUnreadable,  // the datagram has no head that names a reporter
    kStranger,    // nobody with that number may report from there
    kReporter,    // a reporter that may report; without a seal anybody can claim its number
    kSwitch,      // a packet of the published DTA, which names no reporter
  };
  wire::ReportRefusal reason = wire::ReportRefusal::kNone;
  Sender sender = Sender::kUnreadable;
  std::uint16_t table = 0;     // of a report
  std::uint32_t reporter = 0;  // the number in the datagram, of a stranger or a reporter
  IpAddress source;
};

// What has happened since the complaint before, and who has most of it.
struct Complaint {
  std::optional<std::uint32_t> reporter;  // nullopt stands for all that are not configured
  std::uint64_t lost = 0, skipped = 0, refused = 0;
  Refused latest;               // of those that were refused, if any
  std::size_t others = 0;       // other reporters of which something was lost or refused
  bool any_configured = false;  // `reporters:` is there
};

// Says it in one line, and what to do about it.
std::string text(const Complaint& complaint);

}  // namespace pingloom::translator
