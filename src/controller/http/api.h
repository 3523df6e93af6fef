// The REST API, one function per endpoint; docs/http-api.md is its reference. All functions but
// startBurst() and those with orders only read the board. The HTTP thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "controller/alerts/alerts.h"
#include "controller/collectors/collectors.h"
#include "controller/control/burst_board.h"
#include "controller/control/order_board.h"
#include "controller/history/history_reader.h"
#include "controller/http/grid_writer.h"
#include "controller/http/metric.h"
#include "controller/model/board.h"
#include "http/message.h"
#include "http/server.h"

namespace pingloom::controller::api {

http::Response status(const Board& board, const http::ServerCounters& counters);
http::Response hosts(const Board& board);
http::Response probes(const Board& board);

// /api/v1/counters
http::Response counters(const Board& board, const http::Request& request);
// /api/v1/history/counters?host=HOST&from=TIME&to=TIME&limit=N
http::Answer pastCounters(HistoryReader& reader, const http::Request& request);

// Parses the query of a grid. The error is the answer.
tl::expected<GridQuery, http::Response> gridQuery(const GridPlan& plan,
                                                  const http::Request& request);

// /api/v1/grid?probe=NAME&metric=NAME
http::Response grid(const Board& board, const http::Request& request);

// /api/v1/worst?probe=NAME&metric=NAME&sort=COLUMN&count=N
http::Response worst(const Board& board, const http::Request& request);

// /api/v1/pairs/PAIR; `pair` is PROBE/SRC/DST.
http::Response pair(const Board& board, std::string_view pair);

// /api/v1/paths/PAIR: the known paths of the pair, in both directions.
http::Response paths(const Board& board, std::string_view pair);

// /api/v1/fabric: the switches and links that the traced paths have shown.
http::Response fabric(const Board& board);
// /api/v1/fabric/flows: the flows that cross a switch, or a link in one direction.
http::Response fabricFlows(const Board& board, const http::Request& request);

// /api/v1/history/events?probe=NAME&from=TIME&to=TIME&source=ADDRESS&...
http::Answer events(const std::shared_ptr<const GridPlan>& plan, HistoryReader& reader,
                    const http::Request& request);

// /api/v1/history and below.
http::Answer history(const std::shared_ptr<const GridPlan>& plan, HistoryReader& reader,
                     const http::Request& request);

// /api/v1/history/paths?probe=NAME&from=TIME&to=TIME&source=ADDRESS&...
http::Answer pastPaths(const Board& board, HistoryReader& reader, const http::Request& request);

// POST /api/v1/bursts: starts a burst. The control thread answers.
http::Answer startBurst(const Board& board, BurstBoard& bursts, const http::Request& request);
// /api/v1/bursts/ID
http::Response burst(const BurstBoard& bursts, std::string_view id);

// /api/v1/incidents: everything that is concluded now.
http::Response incidents(const Board& board);
// /api/v1/incidents/ID; POST acknowledges it.
http::Answer incident(const Board& board, HistoryReader& reader, OrderBoard& orders,
                      std::string_view id, const http::Request& request);
// /api/v1/history/incidents?from=TIME&to=TIME&limit=N
http::Answer pastIncidents(HistoryReader& reader, const http::Request& request);
// /api/v1/silences; POST adds one. /api/v1/silences/ID; DELETE removes it.
http::Answer silencesList(const Board& board, OrderBoard& orders, const http::Request& request);
http::Answer silence(OrderBoard& orders, std::string_view id);
// /api/v1/maintenance; POST begins it for a host. /api/v1/maintenance/HOST; DELETE ends it.
http::Answer maintenanceList(const Board& board, OrderBoard& orders, const http::Request& request);
http::Answer maintenance(OrderBoard& orders, std::string_view host);
// /api/v1/collectors; POST registers one. `tokens`: the sender has shown a token.
http::Answer collectors(Collectors& collectors, const http::Request& request, bool tokens);
// /api/v1/applications: those whose pages collectors read.
http::Response applications(Collectors& collectors);
// /api/v1/applications/HOST: the values of a host's pages; its collector is asked.
http::Answer applicationsOf(Collectors& collectors, std::string_view host);
// /api/v1/anomalies?from=TIME&to=TIME&host=HOST: what collectors have noticed.
http::Response anomalies(Collectors& collectors, const http::Request& request);
// /api/v1/controllers: those that share the history, as this one sees them.
http::Response controllers(const Board& board);
// /api/v1/alerts
http::Response alerts(const Board& board);
// POST /api/v1/alerts/TARGET/test: sends a test notification. `rest` is what follows
// /api/v1/alerts/; `targets` is nullptr where there are none.
http::Answer testAlert(Alerts* targets, std::string_view rest);
// Writes what is known about the targets, for the status.
nlohmann::ordered_json alertsJson(const AlertStatuses& statuses);

http::Response health();
// `whole` adds the reasons, which only peers with the role kRead may see.
http::Response readiness(const Board& board, bool whole);

// Returns why the controller is not ready; empty where it is.
std::vector<std::string> notReady(const Board& board);

http::Response metrics(const Board& board, const BurstBoard& bursts,
                       const http::ServerCounters& counters, Collectors& collectors);

// Returns 404 and suggests the nearest name.
http::Response unknownProbe(const GridPlan& plan, const std::string& name);

}  // namespace pingloom::controller::api
