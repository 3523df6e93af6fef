// One peer's connection, from the accepted socket to its end; owns itself through the operation
// that is under way. Internal to src/http: nothing else sees Asio. The HTTP thread.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>

#include "http/server.h"

namespace pingloom::http {

// What all connections of a server share; outlives them.
struct Service {
  ServerOptions options;
  Server::Handler handler;
  Server::WebSockets websockets;
  bool check_host = false;
};

// Counts a connection for as long as it lives.
class ConnectionSlot {
 public:
  explicit ConnectionSlot(std::shared_ptr<ServerCounters> counters)
      : counters_(std::move(counters)) {
    ++counters_->connections_open;
  }
  ~ConnectionSlot() { --counters_->connections_open; }
  ConnectionSlot(const ConnectionSlot&) = delete;
  ConnectionSlot& operator=(const ConnectionSlot&) = delete;

 private:
  std::shared_ptr<ServerCounters> counters_;
};

void serveConnection(boost::asio::ip::tcp::socket socket, std::shared_ptr<const Service> service);

}  // namespace pingloom::http
