#include "rdma/control_peer.h"

namespace pingloom::rdma {

std::optional<IpAddress> addressToCheck(const DeviceInfo& device, const RcAddress& peer) {
  if (device.link_layer == LinkLayer::kInfiniband) return std::nullopt;
  return peer.gid.address();
}

Status checkControlPeer(const DeviceInfo& device, const RcAddress& peer, const IpAddress& control) {
  const auto named = addressToCheck(device, peer);
  if (!named || *named == control) return {};
  return makeError(control.text(), "its RDMA endpoint is at " + named->text() +
                                       ", not at the address that it connects from; connect from "
                                       "the address of the RDMA device");
}

}  // namespace pingloom::rdma
