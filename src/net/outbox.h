// Datagrams on their way out, sent by the batch. One thread.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "net/control_data.h"
#include "net/rx_batch.h"
#include "net/udp_socket.h"

namespace pingloom::net {

// add() up to kMax, then flush(). Memory: kMax times (the longest datagram + 200 bytes).
class Outbox {
 public:
  static constexpr std::size_t kMax = 64;

  // `longest`: of what add() takes; zeros beyond what is written into it.
  explicit Outbox(std::size_t longest);
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return begin_ == end_; }
  bool full() const { return end_ == kMax; }  // until all of it has left
  void clear() { begin_ = end_ = 0; }

  // Adds a datagram of `length` bytes to `to`; returns its bytes, to be written. A tag of
  // kind none says that `control` asks for no timestamp. REQUIRES: not full().
  std::span<std::uint8_t> add(const sockaddr_in6& to, socklen_t to_length,
                              const ControlData& control, std::size_t length, TxTag tag);
  // The same of bytes that stay the caller's, with their iovecs, until they have left.
  void addInPlace(const sockaddr_in6& to, socklen_t to_length, const ControlData& control,
                  std::span<iovec> pieces, TxTag tag);
  TxTag tag(std::size_t i) const { return slots_[begin_ + i].tag; }

  enum class Outcome { kSent, kBlocked };
  // Sends what it can. Datagrams that cannot be sent at all are taken out and passed to
  // failed(tag, errno). kBlocked: the kernel has no room; the rest waits for the next flush().
  // `scratch` is overwritten.
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
  // Sends from begin_ on until the kernel refuses one; 0, or that one's errno.
  int sendSome(UdpSocket& socket);

  // An ICMP error for an earlier datagram makes the next send fail in its place, once for each;
  // only what fails this often (the error queue read in between) is the datagram's own failure.
  static constexpr int kAttempts = 3;

  std::size_t longest_;
  std::vector<std::uint8_t> bytes_;
  std::array<Slot, kMax> slots_;
  std::array<mmsghdr, kMax> headers_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// The kernel has no room for the moment.
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
    if (error == ECONNREFUSED) return Outcome::kBlocked;  // always another datagram's
    failed(slots_[begin_].tag, error);
    ++begin_;
  }
  clear();
  return Outcome::kSent;
}

}  // namespace pingloom::net
