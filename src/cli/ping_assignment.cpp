#include "cli/ping_assignment.h"

namespace pingloom::cli {
namespace {

constexpr Nanos kEndless = 10 * 365 * 24 * kHour;

}  // namespace

std::shared_ptr<const plan::Assignment> assignmentOf(const PingRequest& request) {
  auto made = std::make_shared<plan::Assignment>();
  made->probe.name = "ping";
  made->probe.protocol = request.protocol;
  made->probe.interval = request.interval;
  made->probe.timeout = request.timeout;
  made->probe.window = kEndless;
  made->probe.traffic_class = request.traffic_class;
  made->probe.payload = request.payload;
  if (request.protocol != Protocol::kRdma) made->probe.port = request.target.port;
  made->source = request.source;
  made->destinations = {request.target.address};
  return made;
}

}  // namespace pingloom::cli
