#include "collector/stores/store_api.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "collector/stores/store_document.h"
#include "common/json_text.h"
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

http::Response getAnswer(const StoreService& service, const http::Request& request, Nanos now_utc) {
  if (auto refused = http::refusedParameter(request, {"table", "key"})) return std::move(*refused);
  const auto table = request.query.find("table");
  const auto key = request.query.find("key");
  if (table == request.query.end() || key == request.query.end()) {
    return http::errorResponse(400, "say which: ?table=NAME&key=text:TEXT");
  }
  if (const auto parsed = store::parseKey(key->second); !parsed) {
    return http::errorResponse(400, parsed.error().text());
  }
  std::vector<NamedView> views;
  for (const ShownStore& shown : service.stores()) views.push_back({shown.translator, &shown.view});
  const auto found = getJson(views, table->second, key->second, now_utc);
  if (!found) return http::errorResponse(404, found.error().text());
  return storeResponse(*found);
}

}  // namespace

http::Response answerStores(const StoreService* service, const http::Request& request,
                            Nanos now_utc) {
  if (request.method != "GET") return http::errorResponse(405, "only GET is answered here");
  if (service == nullptr) return http::errorResponse(404, "there are no stores; see 'stores:'");
  if (request.path == "/api/v1/dta/tables") return tablesAnswer(*service, request, now_utc);
  if (request.path == "/api/v1/dta/get") return getAnswer(*service, request, now_utc);
  return http::errorResponse(404, "there are /api/v1/dta/tables and /api/v1/dta/get");
}

}  // namespace pingloom::collector
