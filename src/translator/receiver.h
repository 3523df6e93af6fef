// A UDP socket from which datagrams are received in batches. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "net/payload_share.h"
#include "net/rx_batch.h"
#include "net/udp_socket.h"

namespace pingloom::translator {

class Receiver {
 public:
  // With `coalesced` the kernel may deliver datagrams of one sender together (UDP GRO), which pays
  // where a sender sends many.
  static Result<Receiver> bind(const SocketAddress& listen, bool coalesced);
  // Binds as many that share the port, coalesced; the field of a datagram chooses the receiver.
  static Result<std::vector<Receiver>> bindGroup(const SocketAddress& listen, std::uint32_t count,
                                                 const net::PayloadField& field);

  int descriptor() const { return socket_.descriptor(); }
  const SocketAddress& address() const { return address_; }
  std::size_t bufferBytes() const;  // the size of the socket's queue
  // Returns how many datagrams the kernel has dropped since the last call because the queue was
  // full.
  std::uint64_t takeOverflow() { return std::exchange(overflow_, 0); }

  // Calls take(span<const uint8_t>, SocketAddress) for the datagrams that wait, at most kBatches
  // batches of them. Before each batch but the first, more() says whether to go on.
  template <typename Take, typename More>
  void receive(Take&& take, More&& more) {
    for (int i = 0; i < kBatches && (i == 0 || more()); ++i) {
      const int got = receiveBatch();
      for (int j = 0; j < got; ++j) {
        const auto index = static_cast<std::size_t>(j);
        std::size_t each = noteAncillary(index);
        auto left = batch_.head(index);
        if (each == 0) each = left.size();
        do {  // an empty datagram counts as well
          const auto datagram = left.first(std::min(each, left.size()));
          left = left.subspan(datagram.size());
          take(datagram, batch_.from(index));
        } while (!left.empty());
      }
      if (got < static_cast<int>(net::RxBatch::kMax)) return;
    }
  }
  // Sends a datagram from the socket's port. One that cannot leave now is dropped.
  void send(const SocketAddress& to, std::span<const std::uint8_t> bytes) const;

 private:
  static constexpr int kBatches = 8;

  Receiver(net::UdpSocket socket, bool coalesced);
  int receiveBatch();
  std::size_t noteAncillary(std::size_t index);  // returns the size of each coalesced datagram or 0

  net::UdpSocket socket_;
  SocketAddress address_;
  net::RxBatch batch_;
  std::uint64_t overflow_ = 0;
};

}  // namespace pingloom::translator
