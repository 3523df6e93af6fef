#include "net/outbox.h"

#include <cerrno>

namespace pingloom::net {

bool isBackPressure(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS || error == ENOMEM;
}

Outbox::Outbox(std::size_t longest) : longest_(longest), bytes_(longest * kMax) {
  for (std::size_t i = 0; i < kMax; ++i) {
    Slot& slot = slots_[i];
    slot.data.iov_base = bytes_.data() + i * longest;
    msghdr& header = headers_[i].msg_hdr;
    header.msg_name = &slot.to;
  }
}

msghdr& Outbox::fill(const sockaddr_in6& to, socklen_t to_length, const ControlData& control,
                     TxTag tag) {
  Slot& slot = slots_[end_];
  msghdr& header = headers_[end_++].msg_hdr;
  slot.to = to;
  slot.control = control;
  slot.tag = tag;
  header.msg_namelen = to_length;
  header.msg_control = control.used == 0 ? nullptr : slot.control.bytes.data();
  header.msg_controllen = control.used;
  return header;
}

std::span<std::uint8_t> Outbox::add(const sockaddr_in6& to, socklen_t to_length,
                                    const ControlData& control, std::size_t length, TxTag tag) {
  const std::size_t at = end_;
  msghdr& header = fill(to, to_length, control, tag);
  slots_[at].data.iov_len = length;
  header.msg_iov = &slots_[at].data;
  header.msg_iovlen = 1;
  return std::span(bytes_).subspan(at * longest_, length);
}

void Outbox::addInPlace(const sockaddr_in6& to, socklen_t to_length, const ControlData& control,
                        std::span<iovec> pieces, TxTag tag) {
  msghdr& header = fill(to, to_length, control, tag);
  header.msg_iov = pieces.data();
  header.msg_iovlen = pieces.size();
}

int Outbox::sendSome(UdpSocket& socket) {
  const int sent = sendmmsg(socket.descriptor(), &headers_[begin_],
                            static_cast<unsigned>(end_ - begin_), MSG_DONTWAIT);
  if (sent < 0) return errno;
  for (int i = 0; i < sent; ++i, ++begin_) {
    if (slots_[begin_].tag.kind != TxTag::kNone) socket.transmitted(slots_[begin_].tag);
  }
  return 0;
}

}  // namespace pingloom::net
