#include "controller/control/burst_relay.h"

#include <algorithm>
#include <string_view>

#include "controller/control/bursts.h"

namespace pingloom::controller {

void BurstRelay::order(const std::string& route, const wire::RelayedBurstOrder& order,
                       Instant now) {
  const auto recent = std::count_if(ordered_.begin(), ordered_.end(), [&](const Ordered& each) {
    return each.route == route && each.mono > now.mono - kMinute;
  });
  if (recent >= static_cast<std::ptrdiff_t>(Bursts::kMaxPerMinute)) {
    return refuse(route, order, "too many bursts were ordered in a minute");
  }
  const Agent* agent = registry_.find(order.host());
  if (agent == nullptr || !agent->info.alive || !agent->info.isHere() ||
      agent->info.incarnation != order.incarnation()) {
    return refuse(route, order, "its controller does not know the agent any more");
  }
  wire::ControllerMessage message;
  *message.mutable_burst() = order.order();
  if (!socket_.send(agent->route, std::string_view(message.SerializeAsString()))) {
    return refuse(route, order, "the agent takes no more messages");
  }
  if (ordered_.size() == kMaxKnown) ordered_.pop_front();
  ordered_.push_back({order.order().id(), route, order.host(), now.mono});
}

bool BurstRelay::report(const Agent& agent, const wire::BurstReport& report) {
  const auto found = std::find_if(ordered_.begin(), ordered_.end(), [&](const Ordered& each) {
    return each.id == report.id() && each.host == agent.info.host && !each.finished;
  });
  if (found == ordered_.end()) return false;
  found->finished = report.finished();
  (void)send(found->route, found->host, report);  // a lost one is missed like a lost report
  return true;
}

void BurstRelay::refuse(const std::string& route, const wire::RelayedBurstOrder& order,
                        const std::string& reason) {
  wire::BurstReport report;
  report.set_id(order.order().id());
  report.set_finished(true);
  report.set_refused(reason);
  (void)send(route, order.host(), report);
}

bool BurstRelay::send(const std::string& route, const std::string& host,
                      const wire::BurstReport& report) {
  wire::ControllerMessage message;
  message.mutable_burst_report()->set_host(host);
  *message.mutable_burst_report()->mutable_report() = report;
  return socket_.send(route, std::string_view(message.SerializeAsString()));
}

}  // namespace pingloom::controller
