#include "rdma/soft/expired.h"

#include <algorithm>
#include <span>

#include "rdma/soft/packet.h"

namespace pingloom::rdma::soft {

std::optional<ExpiredPacket> expiredPacket(const net::Bounce& bounce) {
  const auto quoted = std::span(bounce.quoted).first(bounce.quoted_bytes);
  const auto sender = bounce.expired ? senderOfUd(quoted) : std::nullopt;
  if (!sender) return std::nullopt;
  ExpiredPacket made;
  made.qpn = *sender;
  made.what.router = bounce.sender;
  made.what.destination = bounce.destination.address;
  const auto payload = quoted.subspan(headerBytes(Opcode::kUdSendOnly));
  made.what.quoted_bytes = std::min(payload.size(), made.what.quoted.size());
  std::copy_n(payload.begin(), made.what.quoted_bytes, made.what.quoted.begin());
  return made;
}

}  // namespace pingloom::rdma::soft
