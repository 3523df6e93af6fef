// The counters of a host's NICs and ports: their newest values from the board, and the minutes in
// which they moved from the history.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "controller/history/counter_store.h"
#include "controller/http/api.h"
#include "controller/http/json_answer.h"
#include "controller/http/past_query.h"

namespace pingloom::controller::api {
namespace {

constexpr std::uint64_t kUsualRecords = 1000;
constexpr std::uint64_t kMaxRecords = 10'000;

struct ShownCounter {
  const HostPort* port;
  const HostCounter* counter;
  const WatchedCounter* watched;
  std::uint64_t moved;

  // What is unusual comes first: errors that moved, then load that moved.
  auto order() const {
    const bool error = watched->kind == CounterKind::kError;
    const int rank = moved == 0 ? 2 : error ? 0 : 1;
    return std::tuple(rank, std::tie(port->device, port->port), watched->name);
  }
};

tl::expected<std::string, http::Response> hostOption(const http::Request& request) {
  const auto host = request.query.find("host");
  if (host != request.query.end() && !host->second.empty()) return host->second;
  return tl::unexpected(
      http::errorResponse(400, "the parameter 'host' is missing: the id of an agent"));
}

Json portJson(std::uint32_t port) { return port == 0 ? Json() : Json(port); }

Json counterJson(const ShownCounter& shown) {
  const auto& moves = shown.counter->moves;
  return {{"device", shown.port->device},
          {"port", portJson(shown.port->port)},
          {"counter", shown.watched->name},
          {"kind", name(shown.watched->kind)},
          {"total", shown.counter->total},
          {"moved", shown.moved},
          {"last_moved", utcOrNull(moves.empty() ? 0 : moves.back().last_utc)}};
}

Json countersJson(const HostCounters& counters, Nanos now_utc) {
  std::vector<ShownCounter> shown;
  for (const HostPort& port : counters.ports) {
    for (const HostCounter& counter : port.counters) {
      shown.push_back({&port, &counter, &watchedCounters()[counter.id],
                       movedSince(counter, now_utc - kRecentMoves)});
    }
  }
  std::sort(shown.begin(), shown.end(),
            [](const auto& a, const auto& b) { return a.order() < b.order(); });
  Json json = Json::array();
  for (const ShownCounter& each : shown) json.push_back(counterJson(each));
  return json;
}

http::Response pastIn(History& history, const CounterQuery& query) {
  const auto found = readCounters(history.database(), query);
  if (!found) return unreadable(found.error());
  Json json = {{"host", query.host},
               {"from", formatUtc(query.from_utc)},
               {"to", formatUtc(query.until_utc)},
               {"counters", Json::array()}};
  for (const PastCounter& each : *found) {
    json["counters"].push_back({{"minute", formatUtc(each.minute_utc)},
                                {"device", each.device},
                                {"port", portJson(each.port)},
                                {"counter", each.counter},
                                {"kind", name(each.kind)},
                                {"total", each.total},
                                {"moved", each.moved}});
  }
  return jsonAnswer(json);
}

}  // namespace

http::Response counters(const Board& board, const http::Request& request) {
  const auto host = hostOption(request);
  if (!host) return host.error();
  const auto hosts = board.hosts();
  const auto found = std::find_if(hosts->begin(), hosts->end(),
                                  [&](const AgentInfo& agent) { return agent.host == *host; });
  if (found == hosts->end()) {
    return http::errorResponse(404, fmt::format("no agent '{}' has registered", *host));
  }
  Json json = {{"host", found->host}, {"known_since", Json()}, {"counters", Json::array()}};
  if (found->counters != nullptr) {
    json["known_since"] = formatUtc(found->counters->since_utc);
    json["counters"] = countersJson(*found->counters, utcNow());
  }
  return jsonAnswer(json);
}

http::Answer pastCounters(HistoryReader& reader, const http::Request& request) {
  const auto host = hostOption(request);
  if (!host) return host.error();
  const auto range = rangeOption(request);
  if (!range) return range.error();
  const auto limit = numberOption(request, "limit", kUsualRecords, kMaxRecords);
  if (!limit) return limit.error();
  const CounterQuery query{*host, range->from_utc, range->until_utc, *limit};
  return later(reader, [query](History& history) { return pastIn(history, query); });
}

}  // namespace pingloom::controller::api
