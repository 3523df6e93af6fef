#include "controller/model/report_reader.h"

#include <algorithm>

#include "plan/plan_codec.h"
#include "wire/distribution_codec.h"

namespace pingloom::controller {
namespace {

Status readPart(const wire::SampleSetView& in, std::uint32_t received, Summary& out) {
  out = Summary{};
  if (!in.present) return {};
  const auto summary = wire::decodeSummary(in);
  if (!summary) return tl::unexpected(summary.error());
  if (summary->count > received) return makeError("row", "more samples than were received");
  out = *summary;
  return {};
}

}  // namespace

Result<ReportHead> readHead(const wire::Report& report) {
  if (!plan::validProbeName(report.probe())) return makeError("report", "bad probe name");
  const std::string entity = "report of probe " + report.probe();
  const auto source = IpAddress::fromWire(report.source());
  if (!source) return makeError(entity, "bad source address");
  if (report.protocol() < wire::UDP || report.protocol() > wire::RDMA) {
    return makeError(entity, "unknown protocol");
  }
  if (report.clock() < 1 || report.clock() > kClockSourceNames.size()) {
    return makeError(entity, "unknown clock source");
  }
  if (report.device().size() > kMaxDeviceName) return makeError(entity, "device name too long");
  if (report.window_ns() <= 0 || report.window_ns() > kMaxWindow) {
    return makeError(entity, "window length out of range");
  }
  if (report.path() > plan::kMaxPaths) return makeError(entity, "path out of range");
  if (report.window_index() >= static_cast<std::uint64_t>(INT64_MAX / report.window_ns())) {
    return makeError(entity, "window beyond the end of time");
  }
  return ReportHead{*source,
                    static_cast<Protocol>(report.protocol()),
                    report.window_index(),
                    static_cast<Nanos>(report.window_index()) * report.window_ns(),
                    report.window_ns(),
                    static_cast<ClockSource>(report.clock()),
                    report.path()};
}

void readCounts(const wire::RowView& in, Row& out) {
  out.sent = in.sent;
  out.received = in.received;
  out.lost = in.lost;
  out.refused = in.refused;
  out.unreachable = in.unreachable;
  out.ack_lost = in.ack_lost;
  out.duplicate = in.duplicate;
  out.late = in.late;
  out.misfit = in.misfit;
  out.skipped = in.skipped;
  out.inbound = in.inbound;
  out.anomalous.fill(0);
  const auto known = in.anomalous.first(std::min(in.anomalous.size(), kAnomalies));
  std::copy(known.begin(), known.end(), out.anomalous.begin());
  out.jitter_ns = in.jitter_ns;
}

const char* faultOf(const RowCounts& row) {
  const std::uint64_t verdicts =
      std::uint64_t{row.received} + row.lost + row.refused + row.unreachable;
  if (verdicts != row.sent) return "sent is not received + lost + refused + unreachable";
  if (row.misfit > row.unreachable) return "more misfit than unreachable";
  if (row.ack_lost > row.received) return "more ACKs lost than PONGs received";
  return nullptr;
}

Status readRow(const wire::RowView& in, IpAddress& destination, Row& out) {
  const auto address = IpAddress::fromWire(in.destination);
  if (!address) return makeError("row", "bad destination address");
  destination = *address;
  if (in.anomalous.size() > kAnomalies) return makeError("row", "unknown reason of anomaly");
  readCounts(in, out);
  if (const char* fault = faultOf(out)) return makeError("row", fault);
  for (std::size_t part = 0; part < kRowParts.size(); ++part) {
    auto status = readPart(in.*wire::kRowViewParts[part], in.received, out.*kRowParts[part]);
    if (!status) return status;
  }
  return {};
}

}  // namespace pingloom::controller
