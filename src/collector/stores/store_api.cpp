#include "collector/stores/store_api.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "collector/stores/store_document.h"
#include "collector/stores/store_paths.h"
#include "collector/stores/store_tail.h"
#include "collector/stores/store_top.h"
#include "common/duration.h"
#include "common/json_text.h"
#include "common/text.h"
#include "common/time.h"
#include "store/key_text.h"

namespace pingloom::collector {
namespace {

http::Response storeResponse(const nlohmann::ordered_json& json) {
  http::Response response;
  response.body = jsonLine(json) + "\n";
  return response;
}

http::Response tablesAnswer(const StoreService& service, const http::Request& request,
                            Nanos now_utc) {
  if (auto refused = http::refusedParameter(request, {})) return std::move(*refused);
  nlohmann::ordered_json stores = nlohmann::ordered_json::array();
  const std::vector<bool> connections = service.connections();
  for (std::size_t i = 0; i < service.stores().size(); ++i) {
    const ShownStore& shown = service.stores()[i];
    stores.push_back(storeJson(shown.view, shown.translator, connections[i], now_utc));
  }
  return storeResponse({{"stores", std::move(stores)}});
}

// What getJson() or countJson() know about a key.
using AskKey = Result<nlohmann::ordered_json> (*)(std::span<const NamedView>, std::string_view,
                                                  std::string_view, Nanos);

http::Response keyAnswer(const StoreService& service, const http::Request& request, Nanos now_utc,
                         AskKey ask) {
  if (auto refused = http::refusedParameter(request, {"table", "key"})) return std::move(*refused);
  const auto table = request.query.find("table");
  const auto key = request.query.find("key");
  if (table == request.query.end() || key == request.query.end()) {
    return http::errorResponse(400, "say which: ?table=NAME&key=text:TEXT");
  }
  if (const auto parsed = store::parseKey(key->second); !parsed) {
    return http::errorResponse(400, parsed.error().text());
  }
  const auto found = ask(service.views(), table->second, key->second, now_utc);
  if (!found) return http::errorResponse(404, found.error().text());
  return storeResponse(*found);
}

http::Response topAnswer(const StoreService& service, const http::Request& request, Nanos now_utc) {
  if (auto refused = http::refusedParameter(request, {"table", "limit"})) {
    return std::move(*refused);
  }
  const auto table = request.query.find("table");
  if (table == request.query.end()) return http::errorResponse(400, "say which: ?table=NAME");
  std::uint64_t limit = kTopLimit;
  if (const auto asked = request.query.find("limit"); asked != request.query.end()) {
    const auto number = parseUnsigned(asked->second, kMaxTopLimit);
    if (!number || *number == 0) return http::errorResponse(400, "limit: is from 1 to 1000");
    limit = *number;
  }
  const auto found = topJson(service.views(), table->second, limit, now_utc);
  if (!found) return http::errorResponse(404, found.error().text());
  return storeResponse(*found);
}

// Returns "" for a parameter that is not there.
std::string parameter(const http::Request& request, const char* name) {
  const auto found = request.query.find(name);
  return found == request.query.end() ? std::string() : found->second;
}

http::Response pathAnswer(const StoreService& service, const http::Request& request,
                          Nanos now_utc) {
  if (auto refused = http::refusedParameter(
          request, {"table", "key", "source", "destination", "source_port"})) {
    return std::move(*refused);
  }
  const auto question = pathQuestion(
      {parameter(request, "table"), parameter(request, "key"), parameter(request, "source"),
       parameter(request, "destination"), parameter(request, "source_port")});
  if (!question) return http::errorResponse(400, question.error().text());
  const auto found = pathJson(service.views(), *question, now_utc);
  if (!found) return http::errorResponse(404, found.error().text());
  return storeResponse(*found);
}

constexpr Nanos kLongestWait = 10 * kSecond;

Result<Nanos> waitOf(const http::Request& request) {
  const auto wait = request.query.find("wait");
  if (wait == request.query.end()) return 0;
  const auto duration = parseDuration(wait->second);
  if (!duration) return tl::unexpected(duration.error());
  if (*duration > kLongestWait) return makeError("wait", "is at most 10s");
  return *duration;
}

constexpr std::string_view kEndCursor = "end";

Result<TailQuestion> tailQuestion(const http::Request& request) {
  TailQuestion question;
  question.table = parameter(request, "table");
  if (question.table.empty()) return makeError("tail", "say which: ?table=NAME");
  if (const std::string list = parameter(request, "list"); !list.empty()) {
    const auto number = parseUnsigned(list, store::kMaxLists - 1);
    if (!number) return makeError("list", number.error().reason);
    question.list = static_cast<std::uint32_t>(*number);
  }
  if (const std::string cursor = parameter(request, "cursor"); cursor != kEndCursor) {
    auto parsed = TailCursor::parse(cursor);
    if (!parsed) return tl::unexpected(parsed.error());
    question.cursor = std::move(*parsed);
  }
  return question;
}

http::Answer tailAnswer(StoreService& service, const http::Request& request) {
  if (auto refused = http::refusedParameter(request, {"table", "list", "cursor", "wait"})) {
    return std::move(*refused);
  }
  auto question = tailQuestion(request);
  if (!question) return http::errorResponse(400, question.error().text());
  const auto wait = waitOf(request);
  if (!wait) return http::errorResponse(400, wait.error().text());
  const auto& views = service.views();
  if (const Status known = checkTail(views, *question); !known) {
    return http::errorResponse(404, known.error().text());
  }
  const auto cursor = request.query.find("cursor");
  if (cursor != request.query.end() && cursor->second == kEndCursor) {
    question->cursor = endOfTail(views, *question);
  }
  const auto tail = tailJson(views, *question);
  if (hasNews(tail) || *wait == 0) return tailResponse(tail);
  return http::Later([&service, asked = std::move(*question),
                      until = monotonicNow() + *wait](http::Respond respond) {
    service.tails().ask(asked, until, std::move(respond));
  });
}

}  // namespace

http::Answer answerStores(StoreService* service, const http::Request& request, Nanos now_utc) {
  if (request.method != "GET") return http::errorResponse(405, "only GET is answered here");
  if (service == nullptr) return http::errorResponse(404, "there are no stores; see 'stores:'");
  if (request.path == "/api/v1/dta/tables") return tablesAnswer(*service, request, now_utc);
  if (request.path == "/api/v1/dta/get") return keyAnswer(*service, request, now_utc, getJson);
  if (request.path == "/api/v1/dta/count") return keyAnswer(*service, request, now_utc, countJson);
  if (request.path == "/api/v1/dta/top") return topAnswer(*service, request, now_utc);
  if (request.path == "/api/v1/dta/path") return pathAnswer(*service, request, now_utc);
  if (request.path == "/api/v1/dta/tail") return tailAnswer(*service, request);
  return http::errorResponse(404,
                             "there are tables, get, count, top, path and tail in /api/v1/dta/");
}

}  // namespace pingloom::collector
