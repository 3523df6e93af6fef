// One UDP socket per flow label in use: its source port stands for the label, and switches choose
// among equal paths by it. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/address.h"
#include "net/udp_socket.h"
#include "rdma/soft/icrc.h"
#include "rdma/soft/packet.h"

namespace pingloom::rdma::soft {

// A socket that packets leave through.
struct FlowSocket {
  FlowSocket(net::UdpSocket opened, std::uint16_t bound_to)
      : socket(std::move(opened)), port(bound_to) {}

  // Good until the next call.
  const IcrcFlow& icrcTo(const IpAddress& destination) {
    if (!icrc || destination != icrc_to) {
      icrc.emplace(socket.address(), port, destination, kRoceUdpPort);
      icrc_to = destination;
    }
    return *icrc;
  }

  net::UdpSocket socket;
  std::uint16_t port;                // its own: the source port
  std::uint64_t used = 0;            // grows with every packet of the device
  std::size_t held = 0;              // packets sealed for its port that have not left
  std::vector<std::uint32_t> queue;  // of them, those that may leave: places in the packet pool
  IpAddress icrc_to;                 // the last packet's destination
  std::optional<IcrcFlow> icrc;
};

// The main socket is bound to port 4791 and takes flow label 0. The others only send (they are
// deaf: peers answer to 4791), and are opened when their label is first used.
//
// A label's port is sourcePortOf(label), as with mlx5. Those ports, 0xC000 and up, overlap the
// ephemeral range: where one is taken, the label gets the next free one of the kNeighbours above
// it (a path of its own, though not the one a NIC would choose), and where none is free or no
// socket can be had, the main socket for good.
//
// Bound: kMax labels' sockets, about 35 KB each; beyond that the least recently used one whose
// packets have all left is closed.
class FlowSockets {
 public:
  static constexpr std::size_t kMax = 256;
  static constexpr int kNeighbours = 16;

  // `epoll`: watches every socket for errors, its event data being the FlowSocket; outlives it.
  FlowSockets(net::UdpSocket main, int epoll);

  FlowSocket& main() { return *sockets_.front(); }
  // nullptr: kMax are in use and packets wait in all of them.
  FlowSocket* forLabel(std::uint32_t flow_label) {
    return flow_label == 0 ? &main() : forOtherLabel(flow_label);
  }
  const std::vector<std::unique_ptr<FlowSocket>>& all() const { return sockets_; }  // main first

 private:
  FlowSocket* forOtherLabel(std::uint32_t flow_label);
  FlowSocket* open(std::uint16_t wanted);
  bool makeRoom();
  void watch(FlowSocket& flow) const;

  int epoll_;
  std::vector<std::unique_ptr<FlowSocket>> sockets_;
  std::unordered_map<std::uint16_t, FlowSocket*> by_wanted_port_;
  std::uint64_t uses_ = 0;
};

}  // namespace pingloom::rdma::soft
