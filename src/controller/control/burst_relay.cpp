#include "controller/control/burst_relay.h"

#include <algorithm>
#include <string_view>

namespace pingloom::controller {

void BurstRelay::order(const std::string& from, const wire::RelayedBurstOrder& order, Instant now) {
  const auto recent = std::count_if(ordered_.begin(), ordered_.end(), [&](const Ordered& each) {
    return each.from == from && each.mono > now.mono - kMinute;
  });
  if (recent >= static_cast<std::ptrdiff_t>(kMaxPerMinute) || !makeRoom(now)) {
    return refuse(from, order, "too many bursts were ordered in a minute", now);
  }
  const Agent* agent = registry_.find(order.host());
  if (agent == nullptr || !agent->info.alive || !agent->info.isHere() ||
      agent->info.incarnation != order.incarnation()) {
    return refuse(from, order, "its controller does not know the agent any more", now);
  }
  wire::ControllerMessage message;
  *message.mutable_burst() = order.order();
  if (!socket_.send(agent->route, std::string_view(message.SerializeAsString()))) {
    return refuse(from, order, "the agent takes no more messages", now);
  }
  ordered_.push_back({order.order().id(), from, order.host(), now.mono});
}

bool BurstRelay::makeRoom(Instant now) {
  const auto over = [&](const Ordered& each) {
    return each.finished || each.mono <= now.mono - kMinute;
  };
  while (ordered_.size() >= kMaxKnown && over(ordered_.front())) ordered_.pop_front();
  return ordered_.size() < kMaxKnown;
}

bool BurstRelay::report(const Agent& agent, const wire::BurstReport& report, Instant now) {
  const auto found = std::find_if(ordered_.begin(), ordered_.end(), [&](const Ordered& each) {
    return each.id == report.id() && each.host == agent.info.host && !each.finished;
  });
  if (found == ordered_.end()) return false;
  found->finished = report.finished();
  tell(found->from, found->host, report, now);
  return true;
}

void BurstRelay::refuse(const std::string& to, const wire::RelayedBurstOrder& order,
                        const std::string& reason, Instant now) {
  wire::BurstReport report;
  report.set_id(order.order().id());
  report.set_finished(true);
  report.set_refused(reason);
  tell(to, order.host(), report, now);
}

void BurstRelay::tell(const std::string& to, const std::string& host,
                      const wire::BurstReport& report, Instant now) {
  wire::ControllerMessage message;
  message.mutable_burst_report()->set_host(host);
  *message.mutable_burst_report()->mutable_report() = report;
  feed_->tell(to, message, now);
}

}  // namespace pingloom::controller
