// The interface between a soft device's sockets and its endpoints. A received packet goes to the
// endpoint with its destination QPN, and the departure of a sent one is reported to the endpoint
// that owns it. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "common/address.h"
#include "common/time.h"
#include "rdma/soft/packet.h"
#include "rdma/ud_endpoint.h"

namespace pingloom::rdma::soft {

// A packet that is well formed, undamaged, and in the default partition. The endpoint checks what
// depends on its kind: opcode, Q_Key, PSN and peer.
struct Inbound {
  Packet packet;  // the payload is valid during the call; headers it lacks are undefined
  IpAddress source;
  std::uint8_t traffic_class = 0;
  Nanos kernel_utc = 0;  // 0 if the kernel gave no timestamp
  Nanos now_mono = 0;    // when the packet was read
};

// An endpoint. `id` is the number that it gave the packet.
class PacketSink {
 public:
  virtual void received(const Inbound& inbound) = 0;
  // The first packet of a WRITE will be received soon, if it passes its checks. Only the memory
  // that it is for may be prefetched; the default ignores it.
  virtual void announced(const Reth& /*write*/) {}
  virtual void departed(std::uint32_t id, Nanos utc) = 0;
  virtual void failed(std::uint32_t id) = 0;
  // A packet of this endpoint's QPN came back. The default ignores it.
  virtual void expired(const UdExpired& /*how*/) {}

 protected:
  ~PacketSink() = default;
};

// Stands for the QPNs that, divided by `modulus`, leave `remainder`. Devices that share a port hand
// out QPNs of different classes, so that a packet's QPN tells whose it is.
struct QpnClass {
  std::uint32_t modulus = 1;  // 1 stands for all QPNs
  std::uint32_t remainder = 0;
};

// The endpoints of a device. Bound: kMax.
class SinkTable {
 public:
  static constexpr std::size_t kMax = 255;

  explicit SinkTable(QpnClass qpns = {}) : qpns_(qpns) {}

  // Assigns `sink` an owner number (1 .. kMax) and a random unique QPN of the class. Returns
  // nullopt if the table is full.
  struct Place {
    std::uint8_t owner;
    std::uint32_t qpn;
  };
  std::optional<Place> add(PacketSink& sink);
  void remove(Place place);

  PacketSink* byQpn(std::uint32_t qpn) const {
    const auto found = by_qpn_.find(qpn);
    return found == by_qpn_.end() ? nullptr : found->second;
  }
  // Returns nullptr if the owner is gone.
  PacketSink* byOwner(std::uint8_t owner) const { return by_owner_[owner]; }

 private:
  QpnClass qpns_;
  std::unordered_map<std::uint32_t, PacketSink*> by_qpn_;
  std::array<PacketSink*, kMax + 1> by_owner_{};
  std::uint8_t last_owner_ = 0;
};

}  // namespace pingloom::rdma::soft
