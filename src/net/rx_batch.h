// A batch of datagrams from recvmmsg, with the ancillary data of each. One thread.
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

// The ancillary data of one datagram, or of one entry of the error queue.
struct Ancillary {
  // The receive or transmit timestamp; 0 if there is none.
  Nanos kernel_utc = 0;
  // The local address that the datagram was sent to, if the socket is bound to all addresses.
  std::optional<IpAddress> to;
  std::uint8_t traffic_class = 0;
  // The number of datagrams that the socket has dropped since it was opened.
  std::optional<std::uint32_t> overflow;
  // If the kernel delivered several datagrams as one, the size of each except the last, which may
  // be shorter. Otherwise 0.
  std::size_t segment_bytes = 0;
  // The rest is from the error queue only.
  bool is_timestamp = false;  // kernel_utc is the timestamp of transmission tx_number
  std::uint32_t tx_number = 0;
  bool is_icmp = false;
  bool refused = false;  // the ICMP error was "port unreachable"
  bool expired = false;  // it was "time exceeded in transit"
  std::optional<IpAddress> icmp_sender;
};

class RxBatch {
 public:
  static constexpr std::size_t kMax = 64;
  static constexpr std::size_t kHead = 64;  // enough for the contents of PING, PONG and ACK

  // The first `kept` bytes of each datagram are kept, and the rest is cut off. Memory: kMax times
  // `kept`, of which only the part that has been used is resident.
  explicit RxBatch(std::size_t kept = kHead);

  // Receives the datagrams that wait, and does not block. Returns their number, or -1 with errno if
  // an error is pending.
  int receive(int fd, int extra_flags);

  std::span<const std::uint8_t> head(std::size_t i) const;
  // The length of the whole datagram, which may be more than is kept.
  std::size_t length(std::size_t i) const { return headers_[i].msg_len; }
  // The source, which is a sockaddr_in for IPv4.
  const sockaddr_in6& peer(std::size_t i) const { return slots_[i].peer; }
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
  std::unique_ptr<std::uint8_t[]> bytes_;  // uninitialised, so that unused pages are not resident
  std::unique_ptr<std::array<Slot, kMax>> storage_;
  std::array<Slot, kMax>& slots_;
  std::array<mmsghdr, kMax> headers_{};
  std::size_t used_ = kMax;  // slots whose lengths recvmmsg has changed
};

}  // namespace pingloom::net
