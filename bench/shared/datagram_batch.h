// Datagrams that a bare loop moves with one system call: what each exchange costs in the kernel,
// with nothing around it.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/error.h"

namespace pingloom::bench {

class DatagramBatch {
 public:
  static constexpr std::size_t kMax = 128;  // both answers to a batch of 64
  static constexpr std::size_t kMaxBytes = 1024;

  DatagramBatch();
  DatagramBatch(const DatagramBatch&) = delete;
  DatagramBatch& operator=(const DatagramBatch&) = delete;

  // Makes datagram `number` one of `bytes` bytes to `to`.
  void address(std::size_t number, const sockaddr_in& to, std::size_t bytes);
  void resize(std::size_t number, std::size_t bytes) { slots_[number].data.iov_len = bytes; }
  // Its ancillary data: a request for its departure timestamp, and the source address, or neither.
  void control(std::size_t number, bool timestamp, const in_pktinfo* from);
  // Takes the timestamp request out of ancillary data that has one.
  void dropTimestampRequest(std::size_t number);
  Status send(int descriptor, std::size_t count);

  // Receives up to `most` with these flags, adds the timestamps among their ancillary data to
  // `timestamps`, and gives how many came.
  std::size_t receive(int descriptor, std::size_t most, int flags, std::uint64_t& timestamps);
  const sockaddr_in& peer(std::size_t number) const { return slots_[number].peer; }
  // The address that a received datagram was sent to; null if the socket does not tell.
  const in_pktinfo* arrivedAt(std::size_t number);

 private:
  struct Slot {
    sockaddr_in peer{};
    iovec data{};
    std::array<std::uint8_t, kMaxBytes> bytes{};
    alignas(cmsghdr) std::array<std::uint8_t, 256> control{};
  };

  // Receiving shrinks the lengths in the headers.
  void rearm(std::size_t count);

  std::array<Slot, kMax> slots_;
  std::array<mmsghdr, kMax> headers_{};
};

}  // namespace pingloom::bench
