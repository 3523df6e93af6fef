// One UDP socket for each flow label in use. Its source port represents the label, and switches
// choose among equal paths by it. One thread.
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

// A socket through which packets leave.
struct FlowSocket {
  FlowSocket(net::UdpSocket opened, std::uint16_t bound_to)
      : socket(std::move(opened)), port(bound_to) {}

  // The reference is valid until the next call.
  const IcrcFlow& icrcTo(const IpAddress& destination) {
    if (!icrc || destination != icrc_to) {
      icrc.emplace(socket.address(), port, destination, kRoceUdpPort);
      icrc_to = destination;
    }
    return *icrc;
  }

  net::UdpSocket socket;
  std::uint16_t port;                // the source port
  std::uint64_t used = 0;            // when it was last used, in packets of the device
  std::size_t held = 0;              // packets sealed for this port that have not left
  std::vector<std::uint32_t> queue;  // those of them that may leave, as places in the packet pool
  IpAddress icrc_to;                 // the destination of the last packet
  std::optional<IcrcFlow> icrc;
};

// The main socket is bound to port 4791 and carries flow label 0. The others only send, because
// peers answer to 4791; they are opened when their label is first used.
//
// A label's port is sourcePortOf(label), as with mlx5. These ports, 0xC000 and up, overlap the
// ephemeral range. If the port is taken, the label gets the next free one of the kNeighbours above
// it, which is a path of its own but not the one that a NIC would choose. If none is free, or no
// socket can be opened, the label uses the main socket for good.
//
// Bound: the sockets of kMax labels, about 35 KB each. Beyond that the least recently used socket
// without waiting packets is closed.
class FlowSockets {
 public:
  static constexpr std::size_t kMax = 256;
  static constexpr int kNeighbours = 16;

  // `epoll` watches every socket for errors, with the FlowSocket as event data. It outlives this.
  FlowSockets(net::UdpSocket main, int epoll);

  FlowSocket& main() { return *sockets_.front(); }
  // Returns nullptr if kMax sockets are in use and packets wait in all of them.
  FlowSocket* forLabel(std::uint32_t flow_label) {
    return flow_label == 0 ? &main() : forOtherLabel(flow_label);
  }
  // The source port of the label's packets. One that is not in use yet may get a neighbour of this
  // port when it is.
  std::uint16_t portOf(std::uint32_t flow_label) const;
  // The main socket is the first one.
  const std::vector<std::unique_ptr<FlowSocket>>& all() const { return sockets_; }

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
