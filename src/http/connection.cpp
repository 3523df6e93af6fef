#include "http/connection.h"

#include <utility>  // before Asio, which forgets it

#include "http/http_connection.h"

namespace pingloom::http {

bool Service::hasPlaceFor(const IpAddress& peer) const {
  if (!limits(peer)) return true;
  const auto found = connections.find(sourceOf(peer));
  return found == connections.end() || found->second < options.limits.connections_of_source;
}

bool Service::takeRequest(const IpAddress& peer, double cost) {
  if (!limits(peer) || requests.take(peer, cost, monotonicNow())) return true;
  options.counters->refuse(Refusal::kRate);
  return false;
}

void Service::chargeTime(const IpAddress& peer, Nanos taken) {
  if (!limits(peer)) return;
  const double seconds = static_cast<double>(taken) / static_cast<double>(kSecond);
  requests.charge(peer, 2 * options.limits.requests_per_second * seconds, monotonicNow());
}

ConnectionSlot::ConnectionSlot(std::shared_ptr<Service> service, const IpAddress& peer)
    : service_(std::move(service)), peer_(peer) {
  ++service_->options.counters->connections_open;
  ++service_->connections[sourceOf(peer_)];
}

ConnectionSlot::~ConnectionSlot() {
  --service_->options.counters->connections_open;
  const auto found = service_->connections.find(sourceOf(peer_));
  if (--found->second == 0) service_->connections.erase(found);
}

void serveConnection(boost::asio::ip::tcp::socket socket, std::shared_ptr<Service> service,
                     std::unique_ptr<ConnectionSlot> slot) {
  std::make_shared<HttpConnection<boost::beast::tcp_stream>>(
      boost::beast::tcp_stream(std::move(socket)), std::move(service), std::move(slot))
      ->readNext();
}

}  // namespace pingloom::http
