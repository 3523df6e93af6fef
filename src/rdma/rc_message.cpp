#include "rdma/rc_message.h"

#include <cstring>

#include "pages.pb.h"

namespace pingloom::rdma {

void writeEndpoint(const RcAddress& address, wire::RcEndpoint& out) {
  out.set_gid(address.gid.bytes.data(), address.gid.bytes.size());
  out.set_lid(address.lid);
  out.set_qpn(address.qpn);
  out.set_psn(address.psn);
  out.set_mtu(address.mtu);
  out.set_reads(address.reads);
}

std::optional<RcAddress> readEndpoint(const wire::RcEndpoint& endpoint) {
  constexpr std::uint32_t kMax24Bits = 0xFFFFFF;
  RcAddress made;
  const bool sane = endpoint.gid().size() == made.gid.bytes.size() && endpoint.lid() <= 0xFFFF &&
                    endpoint.qpn() <= kMax24Bits && endpoint.psn() <= kMax24Bits &&
                    endpoint.mtu() >= kMinPathMtu && endpoint.mtu() <= kMaxPathMtu &&
                    endpoint.reads() <= 0xFF;
  if (!sane) return std::nullopt;
  std::memcpy(made.gid.bytes.data(), endpoint.gid().data(), made.gid.bytes.size());
  made.lid = static_cast<std::uint16_t>(endpoint.lid());
  made.qpn = endpoint.qpn();
  made.psn = endpoint.psn();
  made.mtu = endpoint.mtu();
  made.reads = static_cast<std::uint8_t>(endpoint.reads());
  return made;
}

}  // namespace pingloom::rdma
