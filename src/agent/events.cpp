#include "agent/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <system_error>
#include <utility>

#include "common/config_reader.h"
#include "report/client/address.h"
#include "store/tuple_key.h"
#include "wire/big_endian.h"

namespace pingloom::agent {
namespace {

Status readTranslator(const yaml::Node& node, EventsConfig& config) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (!report::client::parseTranslator(*text)) {
    return node.error("'" + *text + "' is no ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT");
  }
  config.translator = std::move(*text);
  return {};
}

constexpr auto kEventsKeys = std::to_array<ConfigKey<EventsConfig>>({
    {"translator", readTranslator},
    {"table", [](const yaml::Node& node,
                 EventsConfig& config) { return readNumber(node, 1, 65535, config.table); }},
    {"paths", [](const yaml::Node& node,
                 EventsConfig& config) { return readNumber(node, 1, 65535, config.paths); }},
    {"votes", [](const yaml::Node& node,
                 EventsConfig& config) { return readNumber(node, 1, 65535, config.votes); }},
    {"reporter",
     [](const yaml::Node& node, EventsConfig& config) {
       return readNumber(node, 0, UINT32_MAX, config.reporter);
     }},
    {"key", readField<&EventsConfig::key>},
});

// TIME KIND PROBE SOURCE>DESTINATION DETAIL
std::string pairText(std::string_view kind, const plan::Assignment& assignment,
                     const IpAddress& destination, std::string_view detail) {
  return fmt::format("{} {} {} {}>{} {}", formatUtc(utcNow()), kind, assignment.probe.name,
                     assignment.source.text(), destination.text(), detail);
}

}  // namespace

Status readValue(const yaml::Node& node, EventsConfig& config) {
  if (auto status = readMap(node, kEventsKeys, config); !status) return status;
  if (config.table == 0) {
    return node.error("'table' is missing: the number of a table of lists in the store");
  }
  return {};
}

Result<std::unique_ptr<Events>> Events::open(const EventsConfig& config) {
  try {
    return std::unique_ptr<Events>(new Events(config));
  } catch (const std::system_error& error) {
    const std::string key = config.key.empty() ? "" : " with the key in " + config.key.string();
    return makeErrnoError("events", "cannot report to " + config.translator + key,
                          error.code().value());
  }
}

void Events::pingEvent(probe::PingEvent event, const plan::Assignment& assignment,
                       const IpAddress& destination, Nanos after) {
  // What will not leave needs no text: an outage may lose many thousand pings a second.
  if (!mayLeave(monotonicNow())) return;
  tell(pairText(probe::name(event), assignment, destination,
                fmt::format("{:.1f}ms", static_cast<double>(after) / kMillisecond)));
}

// Counts a report of the present second; beyond kMaxPerSecond it is suppressed. The first one of a
// second tells how many were before.
bool Events::mayLeave(Nanos now) {
  std::string before;
  {
    const std::lock_guard lock(mutex_);
    if (now - second_ >= kSecond) {
      second_ = now;
      in_second_ = 0;
      if (suppressed_ != told_suppressed_) {
        before = fmt::format("{} suppressed {} events", formatUtc(utcNow()),
                             suppressed_ - std::exchange(told_suppressed_, suppressed_));
        ++in_second_;
      }
    }
    if (in_second_ >= kMaxPerSecond) {
      ++suppressed_;
      return false;
    }
    ++in_second_;
  }
  if (!before.empty()) tell(before);
  return true;
}

void Events::tell(std::string_view text) { reporter_.append(table_, text.substr(0, kMaxBytes)); }

void Events::append(Nanos now, std::string_view text) {
  if (mayLeave(now)) tell(text);
}

void Events::add(const TracedPath& path) {
  if (paths_ == 0 || path.hops.empty()) return;
  const auto tuple =
      store::tupleKey({.protocol = path.one_connection ? store::kTcpProtocol : store::kUdpProtocol,
                       .source = {path.source, path.source_port},
                       .destination = {path.destination, path.destination_port}});
  const std::string key(tuple.begin(), tuple.end());
  const Nanos now = monotonicNow();
  const auto hops = static_cast<std::uint8_t>(path.end == PathEnd::kReached ? path.hops.size() : 0);
  for (std::size_t i = 0; i < path.hops.size(); ++i) {
    const PathHop& hop = path.hops[i];
    if (!hop.isKnown() || !mayLeave(now)) continue;
    const auto rtt = std::clamp<Nanos>(hop.rtt, 0, UINT32_MAX);
    std::array<std::uint8_t, 4> time{};
    wire::storeBe32(time.data(), static_cast<std::uint32_t>(rtt));
    const std::string value = hop.router.wire() + std::string(time.begin(), time.end());
    reporter_.postcard(paths_, key, static_cast<std::uint8_t>(i), hops, value);
  }
}

void Events::vote(const probe::ClosedWindow& window, const FindPath& find) {
  if (votes_ == 0) return;
  const Nanos now = monotonicNow();
  for (std::size_t i = 0; i < window.pairs.size(); ++i) {
    const std::uint32_t lost = window.pairs[i].lost;
    const TracedPath* path = lost == 0 ? nullptr : find(window.assignment->destinations[i]);
    if (path == nullptr || path->one_connection) continue;
    for (std::size_t hop = 1; hop < path->hops.size(); ++hop) {
      const PathHop& from = path->hops[hop - 1];
      const PathHop& to = path->hops[hop];
      if (!from.isKnown() || !to.isKnown() || !mayLeave(now)) continue;
      reporter_.increment(votes_, fmt::format("{}>{}", from.router.text(), to.router.text()), lost);
    }
  }
}

PairState stateSeen(const probe::PairWindow& pair) {
  if (pair.sent == 0) return PairState::kPending;
  if (pair.misfit > 0) return PairState::kMisfit;
  if (pair.refused > 0) return PairState::kRefused;
  if (pair.unreachable > 0) return PairState::kUnreachable;
  if (pair.lost > 0) return PairState::kLoss;
  return PairState::kOk;
}

void Events::add(const probe::ClosedWindow& window) {
  const auto key = std::make_pair(window.assignment.get(), window.path);
  auto found = states_.find(key);
  if (found == states_.end()) {
    // Assignments that only this map knows belong to an earlier plan.
    std::erase_if(states_,
                  [](const auto& each) { return each.second.assignment.use_count() == 1; });
    const std::size_t pairs = window.assignment->destinations.size();
    found = states_
                .emplace(key, States{window.assignment,
                                     std::vector<PairState>(pairs, PairState::kPending)})
                .first;
  }
  std::vector<PairState>& states = found->second.states;
  const Nanos now = monotonicNow();
  for (std::size_t i = 0; i < std::min(states.size(), window.pairs.size()); ++i) {
    const PairState seen = stateSeen(window.pairs[i]);
    if (seen == PairState::kPending) continue;
    const PairState before = std::exchange(states[i], seen);
    if (before == seen || (before == PairState::kPending && seen == PairState::kOk)) continue;
    append(now, pairText("state", *window.assignment, window.assignment->destinations[i],
                         fmt::format("{}>{}", name(before), name(seen))));
  }
}

void Events::add(const std::shared_ptr<const NicPorts>& counters) {
  const auto before = std::exchange(counters_, counters);
  if (before == nullptr || counters == nullptr || before == counters) return;
  const Nanos now = monotonicNow();
  for (const NicPort& port : *counters) {
    const auto known = std::find_if(before->begin(), before->end(), [&](const NicPort& each) {
      return each.device == port.device && each.port == port.port;
    });
    if (known == before->end()) continue;
    for (const NicCounter& counter : port.counters) {
      const WatchedCounter& watched = watchedCounters()[counter.id];
      if (watched.kind != CounterKind::kError) continue;
      const auto last = std::find_if(known->counters.begin(), known->counters.end(),
                                     [&](const NicCounter& each) { return each.id == counter.id; });
      if (last == known->counters.end()) continue;
      const std::uint64_t increase = counterIncrease(last->value, counter.value);
      if (increase == 0) continue;
      const std::string place =
          port.port == 0 ? port.device : fmt::format("{}/{}", port.device, port.port);
      append(now, fmt::format("{} counter {} {} +{}", formatUtc(utcNow()), place, watched.name,
                              increase));
    }
  }
}

EventCounts Events::counts() {
  const pingloom_reporter_status status = reporter_.status();
  const std::lock_guard lock(mutex_);
  return {.taken = status.taken, .suppressed = suppressed_, .skipped = status.skipped};
}

}  // namespace pingloom::agent
