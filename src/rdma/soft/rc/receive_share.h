// Divides the receive buffer of a device's socket among the connected RC endpoints, which limits
// the data in flight to each. One thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace pingloom::rdma::soft {

class ReceiveShare {
 public:
  // Applies even if the buffer holds more, because more packets in flight do not raise throughput.
  static constexpr std::size_t kMaxPackets = 512;

  // `buffer_bytes` is the effective SO_RCVBUF.
  explicit ReceiveShare(std::size_t buffer_bytes) : buffer_bytes_(buffer_bytes) {}

  void join() { ++endpoints_; }
  void leave() { --endpoints_; }
  // Returns how many packets of `mtu` bytes may be in flight to one endpoint; at least 1.
  std::uint32_t window(std::size_t mtu) const {
    const std::size_t fits =
        buffer_bytes_ / costOf(mtu) * 3 / 4;  // the rest is for acknowledges and UD
    const std::size_t share = fits / std::max<std::size_t>(endpoints_, 1);
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(share, 1, kMaxPackets));
  }

 private:
  // Returns what the kernel charges for a packet: its buffer (a power of two that includes headers
  // and the kernel's own data) and its descriptor. Of 1 KiB ones 185 fit into 425,984 bytes.
  static constexpr std::size_t costOf(std::size_t mtu) { return std::bit_ceil(mtu + 512) + 256; }

  std::size_t buffer_bytes_;
  std::size_t endpoints_ = 0;
};

}  // namespace pingloom::rdma::soft
