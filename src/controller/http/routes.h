// The table of paths and the functions that answer them. openapi.yaml describes each path. The HTTP
// thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "controller/alerts/alerts.h"
#include "controller/collectors/collectors.h"
#include "controller/control/burst_board.h"
#include "controller/control/order_board.h"
#include "controller/history/history_reader.h"
#include "controller/http/csv.h"
#include "controller/model/board.h"
#include "http/message.h"
#include "http/server.h"

namespace pingloom::controller {

// The data that answers are made from.
struct Sources {
  const Board& board;
  HistoryReader& history;
  BurstBoard& bursts;
  OrderBoard& orders;
  Collectors& collectors;
  http::ServerCounters& counters;
  http::Access* access = nullptr;  // nullptr where no access is configured
  Alerts* alerts = nullptr;        // nullptr where alerts have no targets
};

struct Route {
  std::string_view path;  // as in openapi.yaml; from its first '{' on, anything matches
  http::Answer (*answer)(const Sources&, const http::Request&);
  // The query's parameters, separated by spaces; others are refused.
  std::string_view parameters = "";
  const CsvTable* csv = nullptr;    // nullptr: no CSV, or the function writes CSV itself
  std::string_view method = "GET";  // others are answered 405; "": the function checks it itself
  http::Role needs = http::Role::kRead;
  // What a request needs that is not GET, where the function checks the method itself.
  http::Role needs_to_change = http::Role::kOperate;

  bool matches(std::string_view requested) const;
};

std::span<const Route> routes();

// Returns the role that a request needs: none for the page's files and for unknown paths.
http::Role neededRole(const http::Request& request);

// Returns nullopt where the route takes all parameters of the query; otherwise an answer that names
// the first unknown or repeated one.
std::optional<http::Response> refusedParameter(const Route& route, const http::Request& request);

// Returns 405: the path takes this method only.
http::Response methodNotAllowed(std::string_view method);

// Returns nullopt where no route has the path.
std::optional<http::Answer> answerOf(const Sources& sources, const http::Request& request);

}  // namespace pingloom::controller
