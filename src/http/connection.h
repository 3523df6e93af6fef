// One peer's connection, from the accepted socket to its end; owns itself through the operation
// that is under way. Internal to src/http: nothing else sees Asio. The HTTP thread.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <unordered_map>

#include "http/server.h"

namespace pingloom::http {

// What all connections of a server share; outlives them.
struct Service {
  Service(ServerOptions server_options, Server::Handler request_handler,
          Server::WebSockets websocket_endpoints)
      : options(std::move(server_options)),
        handler(std::move(request_handler)),
        websockets(std::move(websocket_endpoints)),
        requests(options.limits.requests_per_second, options.limits.requests_at_once) {}

  const ServerOptions options;
  const Server::Handler handler;
  const Server::WebSockets websockets;
  AddressLimiter requests;
  struct Source {
    std::size_t connections = 0;  // open
    std::size_t waiting = 0;      // of these, for an answer that takes its time
  };
  std::unordered_map<IpAddress, Source, IpAddressHash> sources;  // with open connections

  bool wantsTokens() const { return options.access != nullptr && options.access->wantsTokens(); }
  bool limits(const IpAddress& peer) const {
    return options.limits.limit_loopback || !peer.isLoopback();
  }
  bool hasPlaceFor(const IpAddress& peer) const;
  // Counts a request or a message; false, and counted as refused, where there are too many.
  bool takeRequest(const IpAddress& peer, double cost = 1);
  // One thread answers all: whoever keeps it busy for more than half of the time has to wait.
  void chargeTime(const IpAddress& peer, Nanos taken);
};

// Counts a peer's connection for as long as it lives.
class ConnectionSlot {
 public:
  ConnectionSlot(std::shared_ptr<Service> service, const IpAddress& peer);
  ~ConnectionSlot();
  ConnectionSlot(const ConnectionSlot&) = delete;
  ConnectionSlot& operator=(const ConnectionSlot&) = delete;

  const IpAddress& peer() const { return peer_; }

  // For an answer that takes its time; false, and counted as refused, where its source waits for
  // too many.
  bool beginWaiting();
  void endWaiting();

 private:
  std::shared_ptr<Service> service_;
  const IpAddress peer_;
  bool waiting_ = false;
};

// Until they end.
void serveConnection(boost::asio::ip::tcp::socket socket, std::shared_ptr<Service> service,
                     std::unique_ptr<ConnectionSlot> slot);
void serveEncrypted(boost::asio::ip::tcp::socket socket, std::shared_ptr<Service> service,
                    std::unique_ptr<ConnectionSlot> slot, std::shared_ptr<TlsContext> context);

}  // namespace pingloom::http
