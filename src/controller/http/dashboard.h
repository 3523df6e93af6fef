// The controller's HTTP side: the REST API, the live WebSocket, /metrics and the web page. One HTTP
// thread serves them from the board; the only things it can do are to start bursts, to give orders
// about incidents and to test targets of alerts. Another thread answers questions about the past.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "controller/alerts/alerts.h"
#include "controller/collectors/collector_link.h"
#include "controller/control/burst_board.h"
#include "controller/control/order_board.h"
#include "controller/history/sql/place.h"
#include "controller/model/board.h"
#include "http/access_config.h"

namespace pingloom::controller {

struct DashboardOptions {
  SocketAddress listen;                 // port 0 picks a free one
  std::string web_root;                 // the folder of the page's files; read once, at the start
  std::vector<std::string> host_names;  // see http::ServerOptions
  HistoryPlace history;                 // the ledger's
  http::AccessFiles access;             // empty: every peer may do everything
  std::string frame_ancestors;          // see http::ServerOptions
  CollectorAccess collectors;           // with what the controller asks collectors
  Alerts* alerts = nullptr;             // to be tested; nullptr: there are no targets
};

// Any thread may construct, ask for the address, and destroy.
class Dashboard {
 public:
  // These and the alerts must outlive the dashboard.
  static Result<std::unique_ptr<Dashboard>> start(const DashboardOptions& options, Board& board,
                                                  BurstBoard& bursts, OrderBoard& orders);
  // Stops bursts, orders and tests of alerts, closes all connections and joins the thread.
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  SocketAddress address() const;
  // See http::reloadAccess().
  void reloadAccess();

 private:
  struct Impl;
  explicit Dashboard(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pingloom::controller
