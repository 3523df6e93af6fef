// Which path is answered by what. openapi.yaml describes each of them. The HTTP thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "controller/control/burst_board.h"
#include "controller/history/history_reader.h"
#include "controller/http/csv.h"
#include "controller/model/board.h"
#include "http/message.h"
#include "http/server.h"

namespace pingloom::controller {

// What answers are made of.
struct Sources {
  const Board& board;
  HistoryReader& history;
  BurstBoard& bursts;
  http::ServerCounters& counters;
  http::Access* access = nullptr;  // where it is configured
};

struct Route {
  std::string_view path;  // as in openapi.yaml: from its first '{' on, anything
  http::Answer (*answer)(const Sources&, const http::Request&);
  std::string_view parameters = "";  // of the query, with blanks in between; others are refused
  const CsvTable* csv = nullptr;     // nullptr: there is none, or the answer makes it itself
  std::string_view method = "GET";   // any other is answered 405; "": the answer looks itself
  http::Role needs = http::Role::kRead;

  bool matches(std::string_view requested) const;
};

std::span<const Route> routes();

// What a request has to show; the page's files and what is nowhere need nothing.
http::Role neededRole(const http::Request& request);

// Nothing where the API takes all parameters of the query; otherwise the answer names the first one
// that it does not know, or that came more than once.
std::optional<http::Response> refusedParameter(const Route& route, const http::Request& request);

// 405: there, this method only is answered.
http::Response methodNotAllowed(std::string_view method);

// nullopt: no route leads there.
std::optional<http::Answer> answerOf(const Sources& sources, const http::Request& request);

}  // namespace pingloom::controller
