// An RDMA device's port with one GID, opened: what endpoints are made on. Three things stand behind
// it: libibverbs (verbs/), RoCEv2 in user space (soft/), and in tests a stand-in libibverbs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/address.h"
#include "common/error.h"
#include "common/tick_clock.h"
#include "rdma/gid.h"
#include "rdma/memory_region.h"
#include "rdma/rc_endpoint.h"
#include "rdma/ud_endpoint.h"

namespace pingloom::rdma {

enum class LinkLayer : std::uint8_t { kEthernet, kInfiniband };

// What is the same for all endpoints of an agent; the configuration's `rdma:` section.
struct UdOptions {
  std::optional<std::uint32_t> q_key;  // bit 31 clear; none: random
  std::uint8_t service_level = 0;      // InfiniBand
  bool grh = false;                    // InfiniBand: with a global header (RoCE always has one)
  std::uint32_t flow_label = 0;        // where a message asks for none
  std::uint16_t p_key_index = 0;
  std::uint32_t mtu = 0;  // 256 .. 4096; 0: the port's active MTU
  bool busy = false;      // no events: poll() is always due, at the price of a core
};

struct DeviceInfo {
  std::string name;  // "mlx5_0", "rxe1"; "soft"
  std::uint8_t port = 1;
  LinkLayer link_layer = LinkLayer::kEthernet;
  Gid gid;
  std::uint16_t lid = 0;
  std::uint32_t mtu = 0;  // the active path MTU, bytes of payload
  TickClock clock = TickClock::nanoseconds(ClockSource::kSoftware);
  bool flow_label_chooses_path = false;  // the label becomes the UDP source port
  // How received packets' iCRC is checked: "device" (by hardware or kernel), and in user space
  // "exact", or "residual" where IPv4's ID is not known (soft/icrc_residual.h). Static storage.
  std::string_view icrc_check = "device";
};

// Any thread, except a soft device (soft/soft_device.h); outlives its endpoints.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual Result<std::unique_ptr<UdEndpoint>> createUd(const UdOptions& options) = 0;
  virtual Result<std::unique_ptr<RcEndpoint>> createRc(const RcOptions& /*options*/) {
    return makeError(info().name, "this device has no RC endpoints");
  }
  // `memory` outlives the region, the region's device outlives it.
  virtual Result<std::unique_ptr<MemoryRegion>> registerMemory(std::span<std::uint8_t> /*memory*/,
                                                               Access /*access*/) {
    return makeError(info().name, "this device registers no memory");
  }
};

}  // namespace pingloom::rdma
