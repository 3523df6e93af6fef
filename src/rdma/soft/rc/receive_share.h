// How much may be on its way to a device's socket: what its receive buffer holds, shared among the
// RC endpoints that are connected. One thread.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace pingloom::rdma::soft {

class ReceiveShare {
 public:
  // Also without a full buffer: more under way does not make it faster.
  static constexpr std::size_t kMaxPackets = 512;

  // `buffer_bytes`: the effective SO_RCVBUF.
  explicit ReceiveShare(std::size_t buffer_bytes) : buffer_bytes_(buffer_bytes) {}

  void join() { ++endpoints_; }
  void leave() { --endpoints_; }
  // Packets of `mtu` bytes that may be under way to one endpoint; at least 1.
  std::uint32_t window(std::size_t mtu) const {
    const std::size_t fits = buffer_bytes_ / costOf(mtu) * 3 / 4;  // the rest: acknowledges, UD
    const std::size_t share = fits / std::max<std::size_t>(endpoints_, 1);
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(share, 1, kMaxPackets));
  }

 private:
  // What the kernel charges for a packet: its buffer, a power of two with room for headers before
  // and its own notes behind, and its descriptor. Of 1 KiB ones 185 fit into 425,984 bytes.
  static constexpr std::size_t costOf(std::size_t mtu) { return std::bit_ceil(mtu + 512) + 256; }

  std::size_t buffer_bytes_;
  std::size_t endpoints_ = 0;
};

}  // namespace pingloom::rdma::soft
