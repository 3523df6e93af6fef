#include "rdma/soft/flow_sockets.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "rdma/soft/source_port.h"

namespace pingloom::rdma::soft {
namespace {

constexpr std::uint16_t kFirstPort = 0xC000;

// Wraps around within the range, which ends with the highest port.
std::uint16_t portAfter(std::uint16_t port) {
  return static_cast<std::uint16_t>((port + 1) | kFirstPort);
}

}  // namespace

FlowSockets::FlowSockets(net::UdpSocket main, int epoll) : epoll_(epoll) {
  sockets_.push_back(std::make_unique<FlowSocket>(std::move(main), kRoceUdpPort));
  watch(*sockets_.front());
}

std::uint16_t FlowSockets::portOf(std::uint32_t flow_label) const {
  if (flow_label == 0) return kRoceUdpPort;
  const std::uint16_t wanted = sourcePortOf(flow_label);
  const auto found = by_wanted_port_.find(wanted);
  return found != by_wanted_port_.end() ? found->second->port : wanted;
}

FlowSocket* FlowSockets::forOtherLabel(std::uint32_t flow_label) {
  const std::uint16_t wanted = sourcePortOf(flow_label);
  const auto found = by_wanted_port_.find(wanted);
  FlowSocket* flow = found != by_wanted_port_.end() ? found->second : open(wanted);
  if (flow != nullptr) flow->used = ++uses_;
  return flow;
}

FlowSocket* FlowSockets::open(std::uint16_t wanted) {
  if (sockets_.size() > kMax && !makeRoom()) return nullptr;
  net::UdpSocketOptions options;
  options.unfragmented = true;
  options.deaf = true;
  std::uint16_t port = wanted;
  for (int i = 0; i <= kNeighbours; ++i, port = portAfter(port)) {
    auto socket = net::UdpSocket::bind(main().socket.address(), port, options);
    if (!socket) continue;
    sockets_.push_back(std::make_unique<FlowSocket>(std::move(*socket), port));
    watch(*sockets_.back());
    return by_wanted_port_[wanted] = sockets_.back().get();
  }
  return by_wanted_port_[wanted] = &main();
}

bool FlowSockets::makeRoom() {
  const auto oldest =
      std::min_element(sockets_.begin() + 1, sockets_.end(), [](const auto& a, const auto& b) {
        return std::pair(a->held != 0, a->used) < std::pair(b->held != 0, b->used);
      });
  if ((*oldest)->held != 0) return false;
  std::erase_if(by_wanted_port_, [&](const auto& entry) { return entry.second == oldest->get(); });
  sockets_.erase(oldest);  // closing also removes it from the epoll set
  return true;
}

// If it fails, errors (transmit timestamps) are found late, with the next packet.
void FlowSockets::watch(FlowSocket& flow) const {
  epoll_event event{};
  event.events = EPOLLIN;  // errors are always reported; a send-only socket is never readable
  event.data.ptr = &flow;
  epoll_ctl(epoll_, EPOLL_CTL_ADD, flow.socket.descriptor(), &event);
}

}  // namespace pingloom::rdma::soft
