#include "controller/control/bursts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/random.h"
#include "common/text.h"
#include "wire/burst_codec.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxReason = 200;

void encode(std::uint64_t id, const BurstOrder& order, wire::BurstOrder& body) {
  body.set_id(id);
  body.set_probe(order.probe);
  body.set_source(order.source.wire());
  body.set_destination(order.destination.wire());
  body.set_path(order.path);
  body.set_count(order.count);
  body.set_interval_ns(order.interval);
}

}  // namespace

BurstAnswer Bursts::refuse(BurstRefusal refusal, std::string reason) {
  board_.countRefused(refusal);
  return {0, refusal, std::move(reason)};
}

bool Bursts::busy(const std::string& host) const {
  return std::any_of(running_.begin(), running_.end(),
                     [&](const auto& entry) { return entry.second.known.host == host; });
}

bool Bursts::send(const Agent& agent, std::uint64_t id, const BurstOrder& order) {
  if (agent.info.isHere()) {
    wire::ControllerMessage message;
    encode(id, order, *message.mutable_burst());
    return socket_.send(agent.route, std::string_view(message.SerializeAsString()));
  }
  wire::AgentMessage message;
  wire::RelayedBurstOrder& relayed = *message.mutable_burst_order();
  relayed.set_host(agent.info.host);
  relayed.set_incarnation(agent.info.incarnation);
  encode(id, order, *relayed.mutable_order());
  return forward_ && forward_(agent.info.controller, message);
}

BurstAnswer Bursts::start(const BurstOrder& order, Instant now) {
  const Agent* agent = registry_.owner(order.source);
  if (agent == nullptr || !agent->info.alive) {
    return refuse(BurstRefusal::kNoAgent, "there is no agent at " + order.source.text());
  }
  const std::string& host = agent->info.host;
  if (busy(host)) {
    return refuse(BurstRefusal::kAgentBusy, "agent " + host + " is busy with another burst");
  }
  while (!started_mono_.empty() && started_mono_.front() <= now.mono - kMinute) {
    started_mono_.pop_front();
  }
  if (running_.size() >= kMaxRunning || started_mono_.size() >= kMaxPerMinute) {
    return refuse(BurstRefusal::kTooMany,
                  fmt::format("at most {} bursts run at a time, and {} begin in a minute",
                              kMaxRunning, kMaxPerMinute));
  }
  Running burst;
  // The id is random so that no late report on a burst of an earlier controller process matches.
  do burst.known.id = randomU64();
  while (burst.known.id == 0 || running_.count(burst.known.id) != 0);
  if (!send(*agent, burst.known.id, order)) {
    return refuse(BurstRefusal::kNoAgent,
                  agent->info.isHere()
                      ? "agent " + host + " takes no more messages"
                      : "agent " + host + " is registered with controller " +
                            agent->info.controller +
                            ", which takes no orders from here at present: order it there");
  }
  burst.known.order = order;
  burst.known.host = host;
  burst.known.started_utc = now.utc;
  burst.incarnation = agent->info.incarnation;
  burst.deadline_mono = now.mono + order.interval * (order.count - 1) + order.timeout + kSlack;
  started_mono_.push_back(now.mono);
  board_.countStarted();
  publish(burst);
  const std::uint64_t id = burst.known.id;
  running_.emplace(id, std::move(burst));
  return {id, {}, {}};
}

void Bursts::publish(const Running& burst) {
  auto snapshot = std::make_shared<BurstSnapshot>(burst.known);
  for (const auto& [sequence, ping] : burst.pings) snapshot->pings.push_back(ping);
  board_.publish(std::move(snapshot));
}

Status Bursts::report(const Agent& agent, const wire::BurstReport& report, Instant now) {
  const auto found = running_.find(report.id());
  if (found == running_.end() || found->second.known.host != agent.info.host) return {};
  Running& burst = found->second;
  if (report.pings_size() > static_cast<int>(burst.known.order.count)) {
    return makeError("burst report", "more pings than were ordered");
  }
  for (const wire::BurstPing& in : report.pings()) {
    const auto ping = wire::decode(in);
    if (!ping) return tl::unexpected(ping.error());
    if (ping->sequence > burst.known.order.count) {
      return makeError("burst report", "sequence out of range");
    }
    burst.pings[ping->sequence] = *ping;
  }
  if (!report.finished()) {
    publish(burst);
  } else if (!report.refused().empty()) {
    end(report.id(), BurstState::kFailed, asOneLine(report.refused(), kMaxReason), now);
  } else {
    for (std::uint32_t sequence = 1; sequence <= burst.known.order.count; ++sequence) {
      burst.pings.try_emplace(sequence, BurstPing{sequence});
    }
    end(report.id(), BurstState::kDone, "", now);
  }
  return {};
}

void Bursts::end(std::uint64_t id, BurstState state, std::string reason, Instant now) {
  Running& burst = running_.at(id);
  burst.known.state = state;
  burst.known.reason = std::move(reason);
  publish(burst);
  running_.erase(id);
  kept_.push_back({id, now.mono + kKeep});
}

void Bursts::runDue(Instant now) {
  for (const BurstBoard::Asked& asked : board_.takeAsked()) asked.reply(start(asked.order, now));
  std::vector<std::pair<std::uint64_t, std::string>> over;
  for (const auto& [id, burst] : running_) {
    const Agent* agent = registry_.find(burst.known.host);
    if (agent == nullptr || !agent->info.alive) {
      over.emplace_back(id, "agent " + burst.known.host + " has gone");
    } else if (agent->info.incarnation != burst.incarnation) {
      over.emplace_back(id, "agent " + burst.known.host + " was restarted");
    } else if (burst.deadline_mono <= now.mono) {
      over.emplace_back(id, "agent " + burst.known.host + " has not finished in time");
    }
  }
  for (auto& [id, reason] : over) end(id, BurstState::kFailed, std::move(reason), now);
  while (!kept_.empty() && (kept_.size() > kMaxKept || kept_.front().until_mono <= now.mono)) {
    board_.forget(kept_.front().id);
    kept_.pop_front();
  }
  check_mono_ = now.mono + kCheckEvery;
}

Nanos Bursts::nextDue() const {
  if (!running_.empty()) return check_mono_;
  return kept_.empty() ? INT64_MAX : kept_.front().until_mono;
}

}  // namespace pingloom::controller
