// A batch of datagrams as recvmmsg delivers it, with what the kernel says about each. One thread.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "common/address.h"
#include "common/time.h"

namespace pingloom::net {

// What came with one datagram, or with one entry of the error queue.
struct Ancillary {
  Nanos kernel_utc = 0;         // receive or transmit timestamp; 0: none
  std::optional<IpAddress> to;  // the local address it was sent to; only where the socket has none
  std::uint8_t traffic_class = 0;
  std::optional<std::uint32_t> overflow;  // datagrams this socket has dropped since it was opened
  // Where it is several datagrams in one: of each but the last, which may be shorter. 0: it is one.
  std::size_t segment_bytes = 0;
  // The error queue only.
  bool is_timestamp = false;  // of the transmission with this number:
  std::uint32_t tx_number = 0;
  bool is_icmp = false;
  bool refused = false;  // port unreachable
};

class RxBatch {
 public:
  static constexpr std::size_t kMax = 64;
  static constexpr std::size_t kHead = 64;  // all that PING, PONG and ACK carry

  // `kept`: bytes of each datagram; the rest is cut off.
  // Memory: what of kMax times `kept` has ever been used.
  explicit RxBatch(std::size_t kept = kHead);

  // Datagrams that wait, without waiting. 0: none; -1: an error is pending (errno).
  int receive(int fd, int extra_flags);

  std::span<const std::uint8_t> head(std::size_t i) const;
  std::size_t length(std::size_t i) const { return headers_[i].msg_len; }   // of the whole datagram
  const sockaddr_in6& peer(std::size_t i) const { return slots_[i].peer; }  // or a sockaddr_in
  socklen_t peerLength(std::size_t i) const { return headers_[i].msg_hdr.msg_namelen; }
  SocketAddress from(std::size_t i) const {
    return SocketAddress::fromSockaddr(reinterpret_cast<const sockaddr*>(&slots_[i].peer));
  }
  Ancillary ancillary(std::size_t i);

 private:
  struct Slot {
    sockaddr_in6 peer{};
    iovec data{};
    alignas(cmsghdr) std::array<std::uint8_t, 256> control{};
  };

  std::size_t kept_;
  std::unique_ptr<std::uint8_t[]> bytes_;  // not written, so not resident, before it is used
  std::unique_ptr<std::array<Slot, kMax>> storage_;
  std::array<Slot, kMax>& slots_;
  std::array<mmsghdr, kMax> headers_{};
  std::size_t used_ = kMax;  // slots whose lengths recvmmsg has changed
};

}  // namespace pingloom::net
