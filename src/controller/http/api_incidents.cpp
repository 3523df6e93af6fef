// Incidents, silences and maintenance over HTTP. The board answers for the present, the history
// reader's thread for the past, and the control thread carries out what changes something.
#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "common/json_text.h"
#include "controller/history/verdict_store.h"
#include "controller/http/api.h"
#include "controller/http/order_request.h"
#include "controller/http/past_query.h"
#include "controller/model/incident_json.h"

namespace pingloom::controller::api {
namespace {

constexpr std::uint64_t kUsualIncidents = 100;
constexpr std::uint64_t kMaxIncidents = 10'000;

http::Response documentAnswer(std::string body, unsigned status = 200) {
  http::Response response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

http::Response listAnswer(std::string_view key, const IncidentJson& list) {
  IncidentJson json;
  json[std::string(key)] = list;
  return documentAnswer(jsonLine(json) + "\n");
}

std::optional<std::uint64_t> idOf(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

http::Response noSuch(std::string_view what, std::string_view id) {
  return http::errorResponse(404, fmt::format("no {} '{}'", what, id));
}

http::Response wrongMethod(std::string_view allowed) {
  auto response = http::errorResponse(405, fmt::format("this path takes only {}", allowed));
  response.headers.emplace_back("Allow", std::string(allowed));
  return response;
}

http::Answer order(OrderBoard& orders, VerdictOrder wanted, unsigned status) {
  return http::Later([&orders, wanted = std::move(wanted), status](const http::Respond& respond) {
    const bool taken = orders.ask(wanted, [respond, status](const OrderAnswer& answer) {
      respond(answer ? documentAnswer(*answer, status)
                     : http::errorResponse(409, answer.error().text()));
    });
    if (!taken) respond(http::errorResponse(503, "too many requests wait"));
  });
}

http::Answer incidentById(const Board& board, HistoryReader& reader, std::uint64_t id) {
  const auto verdict = board.verdict();
  for (const Incidents* list : {&verdict->open, &verdict->recent}) {
    for (const auto& incident : *list) {
      if (incident->id == id) return documentAnswer(jsonLine(toJson(*incident)) + "\n");
    }
  }
  return later(reader, [id](History& history) {
    const auto document = readIncident(history.database(), id);
    if (!document) return unreadable(document.error());
    if (document->empty()) return noSuch("incident", std::to_string(id));
    return documentAnswer(*document + "\n");
  });
}

}  // namespace

http::Response incidents(const Board& board) {
  return documentAnswer(jsonLine(toJson(*board.verdict())) + "\n");
}

http::Answer incident(const Board& board, HistoryReader& reader, OrderBoard& orders,
                      std::string_view id, const http::Request& request) {
  const auto number = idOf(id);
  if (!number) return noSuch("incident", id);
  if (request.method == "GET") return incidentById(board, reader, *number);
  if (request.method != "POST") return wrongMethod("GET, HEAD, POST");
  auto wanted = acknowledgeOrder(*number, request);
  if (!wanted) return std::move(wanted.error());
  return order(orders, std::move(*wanted), 200);
}

http::Answer pastIncidents(HistoryReader& reader, const http::Request& request) {
  const auto range = rangeOption(request);
  if (!range) return range.error();
  const auto limit = numberOption(request, "limit", kUsualIncidents, kMaxIncidents);
  if (!limit) return limit.error();
  const IncidentQuery query{range->from_utc, range->until_utc, *limit};
  return later(reader, [query](History& history) {
    const auto documents = readIncidents(history.database(), query);
    if (!documents) return unreadable(documents.error());
    std::string body = R"({"incidents":[)";
    for (std::size_t i = 0; i < documents->size(); ++i) {
      body += (i == 0 ? "" : ",") + (*documents)[i];
    }
    return documentAnswer(body + "]}\n");
  });
}

http::Answer silencesList(const Board& board, OrderBoard& orders, const http::Request& request) {
  if (request.method == "GET") {
    return listAnswer("silences", toJson(*board.verdict())["silences"]);
  }
  if (request.method != "POST") return wrongMethod("GET, HEAD, POST");
  auto wanted = silenceOrder(request, utcNow());
  if (!wanted) return std::move(wanted.error());
  return order(orders, std::move(*wanted), 201);
}

http::Answer silence(OrderBoard& orders, std::string_view id) {
  const auto number = idOf(id);
  if (!number) return noSuch("silence", id);
  return order(orders, RemoveSilenceOrder{*number}, 200);
}

http::Answer maintenanceList(const Board& board, OrderBoard& orders, const http::Request& request) {
  if (request.method == "GET") {
    return listAnswer("maintenance", toJson(*board.verdict())["maintenance"]);
  }
  if (request.method != "POST") return wrongMethod("GET, HEAD, POST");
  auto wanted = maintenanceOrder(request, utcNow());
  if (!wanted) return std::move(wanted.error());
  return order(orders, std::move(*wanted), 201);
}

http::Answer maintenance(OrderBoard& orders, std::string_view host) {
  return order(orders, EndMaintenanceOrder{std::string(host)}, 200);
}

}  // namespace pingloom::controller::api
