#include "rdma/soft/soft_port.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pingloom::rdma::soft {
namespace {

constexpr Nanos kWatchGap = 100 * kMillisecond;

}  // namespace

SoftPort::SoftPort(UniqueFd epoll, net::UdpSocket bound, std::optional<net::RawUdpSocket> raw,
                   Impairments impairments, QpnClass qpns)
    : epoll_(std::move(epoll)),
      sinks_(qpns),
      transmitter_(std::move(bound), std::move(impairments), epoll_.get(), sinks_, drops_),
      receiver_(transmitter_.sockets().main().socket, std::move(raw), sinks_, drops_),
      watch_(address()) {
  watch_.open();
  if (watch_.descriptor() >= 0) follow(watch_.descriptor(), &watch_);
  if (receiver_.descriptor() != transmitter_.sockets().main().socket.descriptor()) {
    follow(receiver_.descriptor(), nullptr);
  }
}

void SoftPort::follow(int descriptor, void* data) const {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = data;
  epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

void SoftPort::poll(int batches, Nanos now_mono) {
  const std::size_t received = receive(batches, now_mono);
  transmitter_.elapse(now_mono);
  transmitter_.collect();
  if (received == 0) clearErrors();
  // Under load nobody looks at the epoll set.
  if (received != 0 && now_mono - watched_mono_ > kWatchGap) {
    watched_mono_ = now_mono;
    watch_.check();
  }
}

std::size_t SoftPort::receive(int batches, Nanos now_mono) {
  std::size_t received = 0;
  for (int i = 0; i < batches; ++i) {
    const int got = receiver_.receive(now_mono);
    if (got < 0) {
      transmitter_.collect(transmitter_.sockets().main());
      continue;
    }
    received += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) < net::RxBatch::kMax) break;
  }
  return received;
}

std::size_t SoftPort::receiveBuffer() const {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  getsockopt(receiver_.descriptor(), SOL_SOCKET, SO_RCVBUF, &bytes, &size);
  return static_cast<std::size_t>(std::max(bytes, 0));
}

// ICMP errors and late departures keep the epoll set readable although no departure is awaited, so
// they are read here.
void SoftPort::clearErrors() {
  std::array<epoll_event, 16> ready;
  const int count = epoll_wait(epoll_.get(), ready.data(), ready.size(), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    if (event.data.ptr == &watch_) {
      watch_.check();
      continue;
    }
    if ((event.events & EPOLLERR) == 0 || event.data.ptr == nullptr) continue;
    transmitter_.collect(*static_cast<FlowSocket*>(event.data.ptr));
  }
}

}  // namespace pingloom::rdma::soft
