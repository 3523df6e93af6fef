// Collects datagrams and sends them in batches. One thread.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "common/address.h"
#include "net/control_data.h"
#include "net/rx_batch.h"
#include "net/udp_socket.h"

namespace pingloom::net {

// Where a datagram goes, as sendmmsg() takes it.
struct Destination {
  sockaddr_in6 address{};  // a sockaddr_in for IPv4
  socklen_t length = 0;
};
inline Destination destinationOf(const IpAddress& address, std::uint16_t port) {
  sockaddr_storage wide{};
  Destination made;
  made.length = address.toSockaddr(port, wide);
  std::memcpy(&made.address, &wide, sizeof made.address);
  return made;
}

// Bound: kMax datagrams between two calls of flush(). Memory: kMax times the longest datagram plus
// 200 bytes.
class Outbox {
 public:
  static constexpr std::size_t kMax = 64;

  // `longest` is the largest size for add(). The bytes are zero until they are written.
  explicit Outbox(std::size_t longest);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  // Stays true until every datagram has left.
  bool full() const { return end_ == kMax; }
  void clear() { begin_ = end_ = 0; }

  // Adds a datagram of `length` bytes to `to` and returns its bytes, which the caller writes. If
  // `control` requests no timestamp, the tag's kind is kNone. REQUIRES: !full().
  std::span<std::uint8_t> add(const sockaddr_in6& to, socklen_t to_length,
                              const ControlData& control, std::size_t length, TxTag tag);
  // Adds a datagram whose bytes and iovecs belong to the caller until it has left.
  void addInPlace(const sockaddr_in6& to, socklen_t to_length, const ControlData& control,
                  std::span<iovec> pieces, TxTag tag);
  TxTag tag(std::size_t i) const { return slots_[begin_ + i].tag; }

  enum class Outcome { kSent, kBlocked };
  // Sends as many datagrams as possible. A datagram that cannot be sent at all is removed and
  // passed to failed(tag, errno). kBlocked says that the kernel has no room, and that the rest
  // waits for the next flush(). `scratch` is overwritten.
  template <typename Failed>
  Outcome flush(UdpSocket& socket, RxBatch& scratch, Failed&& failed);

 private:
  struct Slot {
    sockaddr_in6 to{};
    iovec data{};
    ControlData control;
    TxTag tag;
  };
  msghdr& fill(const sockaddr_in6& to, socklen_t to_length, const ControlData& control, TxTag tag);
  // Sends from begin_ on until the kernel refuses a datagram. Returns its errno, or 0.
  int sendSome(UdpSocket& socket);

  // An ICMP error for an earlier datagram makes the next send fail once. A datagram itself has
  // failed only if it fails this many times while the error queue is read in between.
  static constexpr int kAttempts = 3;

  std::size_t longest_;
  std::vector<std::uint8_t> bytes_;
  std::array<Slot, kMax> slots_;
  std::array<mmsghdr, kMax> headers_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// Whether this errno says that the kernel has no room at the moment.
bool isBackPressure(int error);

template <typename Failed>
Outbox::Outcome Outbox::flush(UdpSocket& socket, RxBatch& scratch, Failed&& failed) {
  int attempts = 0;
  std::size_t failing = begin_;
  while (begin_ < end_) {
    const int error = sendSome(socket);
    if (begin_ == end_) break;
    if (slots_[begin_].tag.kind == TxTag::kNone) {
      socket.readErrors(scratch);
    } else {
      socket.restartNumbers(scratch);
    }
    if (isBackPressure(error)) return Outcome::kBlocked;
    attempts = begin_ == failing ? attempts + 1 : 1;
    failing = begin_;
    if (error == 0 || attempts < kAttempts) continue;
    if (error == ECONNREFUSED) return Outcome::kBlocked;  // it concerns an earlier datagram
    failed(slots_[begin_].tag, error);
    ++begin_;
  }
  clear();
  return Outcome::kSent;
}

}  // namespace pingloom::net
