// Checks an agent's reports: counts must add up, values must be in range, and samples must belong
// to received exchanges. Pure functions; any thread.
#pragma once

#include "common/address.h"
#include "common/error.h"
#include "control.pb.h"
#include "controller/model/board.h"
#include "wire/row_view.h"

namespace pingloom::controller {

struct ReportHead {
  IpAddress source;
  Protocol protocol = Protocol::kUdp;
  std::uint64_t window_index = 0;
  Nanos start_utc = 0;
  Nanos window = 0;
  ClockSource clock = ClockSource::kKernel;
  std::uint32_t path = 0;  // 0 stands for all paths together

  constexpr Nanos endUtc() const { return start_utc + window; }
};

constexpr Nanos kMaxWindow = kHour;
constexpr Nanos kMaxAhead = kMinute;
constexpr std::size_t kMaxDeviceName = 64;

Result<ReportHead> readHead(const wire::Report& report);
// Tells whether a window is too far ahead. It is refused, because it would hide all later windows
// until it has passed.
constexpr bool tooFarAhead(const ReportHead& head, Nanos now_utc) {
  return head.endUtc() > now_utc + kMaxAhead;
}
// Reads counts, anomalies of known reasons and jitter without checking them.
void readCounts(const wire::RowView& in, Row& out);
// Says why the counts of a row contradict each other; nullptr if they do not.
const char* faultOf(const RowCounts& row);
Status readRow(const wire::RowView& in, IpAddress& destination, Row& out);

}  // namespace pingloom::controller
