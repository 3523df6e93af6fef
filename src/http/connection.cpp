#include "http/connection.h"

#include <utility>  // before Asio, which forgets it

#include "http/http_connection.h"

namespace pingloom::http {

bool Service::hasPlaceFor(const IpAddress& peer) const {
  if (!limits(peer)) return true;
  const auto found = sources.find(sourceOf(peer));
  return found == sources.end() || found->second.connections < options.limits.connections_of_source;
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
  ++service_->sources[sourceOf(peer_)].connections;
}

ConnectionSlot::~ConnectionSlot() {
  --service_->options.counters->connections_open;
  endWaiting();
  const auto found = service_->sources.find(sourceOf(peer_));
  if (--found->second.connections == 0) service_->sources.erase(found);
}

bool ConnectionSlot::beginWaiting() {
  std::size_t& waiting = service_->sources[sourceOf(peer_)].waiting;
  if (service_->limits(peer_) && waiting >= service_->options.limits.waiting_of_source) {
    service_->options.counters->refuse(Refusal::kRate);
    return false;
  }
  ++waiting;
  waiting_ = true;
  return true;
}

void ConnectionSlot::endWaiting() {
  if (std::exchange(waiting_, false)) --service_->sources[sourceOf(peer_)].waiting;
}

void serveConnection(boost::asio::ip::tcp::socket socket, std::shared_ptr<Service> service,
                     std::unique_ptr<ConnectionSlot> slot) {
  std::make_shared<HttpConnection>(ByteStream(plainCarrier(beast::tcp_stream(std::move(socket)))),
                                   std::move(service), std::move(slot))
      ->readNext();
}

}  // namespace pingloom::http
