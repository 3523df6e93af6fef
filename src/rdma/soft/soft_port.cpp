#include "rdma/soft/soft_port.h"

#include <sys/epoll.h>

#include <array>
#include <utility>

namespace pingloom::rdma::soft {

SoftPort::SoftPort(UniqueFd epoll, net::UdpSocket bound, std::optional<net::RawUdpSocket> raw,
                   std::size_t mtu, Impairments impairments)
    : epoll_(std::move(epoll)),
      transmitter_(std::move(bound), mtu, std::move(impairments), epoll_.get(), sinks_, drops_),
      receiver_(transmitter_.sockets().main().socket, std::move(raw), mtu, sinks_, drops_) {
  if (receiver_.descriptor() == transmitter_.sockets().main().socket.descriptor()) return;
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, receiver_.descriptor(), &event);
}

void SoftPort::poll(int batches, Nanos now_mono) {
  const std::size_t received = receive(batches);
  transmitter_.elapse(now_mono);
  transmitter_.collect();
  if (received == 0) clearErrors();
}

std::size_t SoftPort::receive(int batches) {
  std::size_t received = 0;
  for (int i = 0; i < batches; ++i) {
    const int got = receiver_.receive();
    if (got < 0) {
      transmitter_.collect(transmitter_.sockets().main());
      continue;
    }
    received += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) < net::RxBatch::kMost) break;
  }
  return received;
}

// Errors that no awaited departure makes us look for keep the set readable: ICMP messages, and
// departures that come late.
void SoftPort::clearErrors() {
  std::array<epoll_event, 16> ready;
  const int count = epoll_wait(epoll_.get(), ready.data(), ready.size(), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    if ((event.events & EPOLLERR) == 0 || event.data.ptr == nullptr) continue;
    transmitter_.collect(*static_cast<FlowSocket*>(event.data.ptr));
  }
}

}  // namespace pingloom::rdma::soft
