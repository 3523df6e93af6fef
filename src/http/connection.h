// One peer's connection, from the accepted socket to its end. The operation in flight owns the
// connection. Internal to src/http: nothing else sees Asio. The HTTP thread.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <unordered_map>

#include "http/server.h"

namespace pingloom::http {

// The state that all connections of a server share. It outlives them.
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
    std::size_t connections = 0;  // open ones
    std::size_t waiting = 0;      // connections that wait for a later answer (Later)
  };
  std::unordered_map<IpAddress, Source, IpAddressHash> sources;  // with open connections

  bool wantsTokens() const { return options.access != nullptr && options.access->wantsTokens(); }
  bool limits(const IpAddress& peer) const {
    return options.limits.limit_loopback || !peer.isLoopback();
  }
  bool hasPlaceFor(const IpAddress& peer) const;
  // Counts a request or a message. Returns false, and counts a refusal, where there are too many.
  bool takeRequest(const IpAddress& peer, double cost = 1);
  // One thread answers all peers, so a peer that keeps it busy for more than half of the time has
  // to wait.
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

  // Begins to wait for a later answer. Returns false, and counts a refusal, where the source
  // already waits for too many.
  bool beginWaiting();
  void endWaiting();

 private:
  std::shared_ptr<Service> service_;
  const IpAddress peer_;
  bool waiting_ = false;
};

// Serve a connection until it ends.
void serveConnection(boost::asio::ip::tcp::socket socket, std::shared_ptr<Service> service,
                     std::unique_ptr<ConnectionSlot> slot);
void serveEncrypted(boost::asio::ip::tcp::socket socket, std::shared_ptr<Service> service,
                    std::unique_ptr<ConnectionSlot> slot, std::shared_ptr<TlsContext> context);

}  // namespace pingloom::http
