// Checks what an agent reports: counts that add up, values in range, samples that belong to
// exchanges which were received. Pure functions; any thread.
#pragma once

#include "common/address.h"
#include "common/error.h"
#include "control.pb.h"
#include "controller/model/board.h"

namespace pingloom::controller {

struct ReportHead {
  IpAddress source;
  Protocol protocol = Protocol::kUdp;
  std::uint64_t window_index = 0;
  Nanos start_utc = 0;
  Nanos window = 0;
  ClockSource clock = ClockSource::kKernel;
  std::uint32_t path = 0;  // 0: of all together

  constexpr Nanos endUtc() const { return start_utc + window; }
};

constexpr Nanos kMaxWindow = kHour;
constexpr Nanos kMaxAhead = kMinute;
constexpr std::size_t kMaxDeviceName = 64;

Result<ReportHead> readHead(const wire::Report& report);
// Such a window is refused: it would hide all that follow until it is over.
constexpr bool tooFarAhead(const ReportHead& head, Nanos now_utc) {
  return head.endUtc() > now_utc + kMaxAhead;
}
// Without a check: counts, anomalies of known reasons, jitter.
void readCounts(const wire::Row& in, Row& out);
Status readRow(const wire::Row& in, IpAddress& destination, Row& out);

}  // namespace pingloom::controller
