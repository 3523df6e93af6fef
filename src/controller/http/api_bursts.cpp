// Bursts over HTTP: a POST starts one, a GET returns its results so far.
#include <fmt/format.h>

#include <charconv>

#include "common/json_text.h"
#include "controller/http/api.h"
#include "controller/http/burst_request.h"

namespace pingloom::controller::api {
namespace {

constexpr std::string_view kPath = "/api/v1/bursts/";
constexpr int kIdDigits = 16;

unsigned statusOf(BurstRefusal refusal) {
  switch (refusal) {
    case BurstRefusal::kBadRequest:
      return 400;
    case BurstRefusal::kNoAgent:
      return 409;
    case BurstRefusal::kAgentBusy:
    case BurstRefusal::kTooMany:
      return 429;
    case BurstRefusal::kEnding:
      break;
  }
  return 503;
}

// Writes an id as text, because JSON's numbers are exact only up to 2^53.
std::string idText(std::uint64_t id) { return fmt::format("{:0{}x}", id, kIdDigits); }

http::Response responseOf(const BurstAnswer& answer) {
  if (answer.id == 0) {
    auto response = http::errorResponse(statusOf(answer.refusal), answer.reason);
    if (response.status == 429) response.headers.emplace_back("Retry-After", "2");
    return response;
  }
  http::Response response;
  response.status = 202;
  const std::string id = idText(answer.id);
  response.headers.emplace_back("Location", std::string(kPath) + id);
  response.body = fmt::format("{{\"id\":\"{}\"}}\n", id);
  return response;
}

void appendTime(std::string& out, std::string_view key, const std::optional<std::uint64_t>& time) {
  if (!time) return;
  out += key;
  appendJsonNumber(out, *time);
}

void appendPing(std::string& out, const BurstPing& ping) {
  out += "{\"sequence\":";
  appendJsonNumber(out, ping.sequence);
  out += ",\"result\":";
  appendJsonString(out, name(ping.fate));
  if (ping.anomaly) {
    out += ",\"anomalous\":";
    appendJsonString(out, kAnomalyNames[static_cast<std::size_t>(*ping.anomaly)]);
  }
  if (ping.ack_lost) out += ",\"ack_lost\":true";
  if (ping.late) out += ",\"late\":true";
  appendTime(out, ",\"network_ns\":", ping.network);
  appendTime(out, ",\"responder_ns\":", ping.responder);
  appendTime(out, ",\"prober_ns\":", ping.prober);
  appendTime(out, ",\"rtt_ns\":", ping.rtt);
  out += '}';
}

std::string jsonOf(const BurstSnapshot& burst) {
  const BurstOrder& order = burst.order;
  std::string out = fmt::format(
      R"({{"id":"{}","state":"{}","probe":"{}","source":"{}","destination":"{}","path":{},"count":{},"interval_ns":{},"started":"{}","agent":)",
      idText(burst.id), kBurstStateNames[static_cast<std::size_t>(burst.state)], order.probe,
      order.source.text(), order.destination.text(), order.path, order.count, order.interval,
      formatUtc(burst.started_utc));
  appendJsonString(out, burst.host);
  out += ",\"reason\":";
  if (burst.reason.empty()) {
    out += "null";
  } else {
    appendJsonString(out, burst.reason);
  }
  out += ",\"pings\":[";
  for (const BurstPing& ping : burst.pings) {
    if (out.back() != '[') out += ',';
    appendPing(out, ping);
  }
  out += "]}\n";
  return out;
}

}  // namespace

http::Answer startBurst(const Board& board, BurstBoard& bursts, const http::Request& request) {
  auto order = burstOrder(*board.plan(), request);
  if (!order) {
    bursts.countRefused(BurstRefusal::kBadRequest);
    return std::move(order.error());
  }
  return http::Later([&bursts, order = std::move(*order)](const http::Respond& respond) {
    bursts.ask(order, [respond](const BurstAnswer& answer) { respond(responseOf(answer)); });
  });
}

http::Response burst(const BurstBoard& bursts, std::string_view id) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number, 16);
  const bool valid = id.size() == kIdDigits && error == std::errc() && end == id.data() + id.size();
  const auto found = valid ? bursts.find(number) : nullptr;
  if (found == nullptr)
    return http::errorResponse(404, "no such burst, or its results have expired");
  http::Response response;
  response.body = jsonOf(*found);
  return response;
}

}  // namespace pingloom::controller::api
