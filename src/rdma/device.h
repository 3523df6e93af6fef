// An open port of an RDMA device with one GID, on which endpoints are created. Its implementations
// are libibverbs (verbs/) and RoCEv2 in user space (soft/); tests load a stand-in libibverbs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/address.h"
#include "common/error.h"
#include "common/tick_clock.h"
#include "rdma/domain.h"
#include "rdma/gid.h"
#include "rdma/ud_endpoint.h"

namespace pingloom::rdma {

enum class LinkLayer : std::uint8_t { kEthernet, kInfiniband };

// The options that all endpoints of an agent share; they come from the configuration's `rdma:`.
struct UdOptions {
  std::optional<std::uint32_t> q_key;  // bit 31 must be clear; nullopt chooses a random one
  std::uint8_t service_level = 0;      // used by InfiniBand only
  bool grh = false;                    // adds a global header on InfiniBand (RoCE always has one)
  std::uint32_t flow_label = 0;        // used by messages that set none
  std::uint16_t p_key_index = 0;
  std::uint32_t mtu = 0;  // 256 .. 4096; 0 selects the port's active MTU
  bool busy = false;      // uses no events: poll() is always due, which occupies a core
};

struct DeviceInfo {
  std::string name;  // "mlx5_0", "rxe1"; "soft"
  std::uint8_t port = 1;
  LinkLayer link_layer = LinkLayer::kEthernet;
  Gid gid;
  std::uint16_t lid = 0;
  std::uint32_t mtu = 0;  // the active path MTU in bytes of payload
  TickClock clock = TickClock::nanoseconds(ClockSource::kSoftware);
  bool flow_label_chooses_path = false;  // whether the label becomes the UDP source port
  // Whether the host knows the UDP source ports of UD messages, so that the paths of their flows
  // can be traced (UdEndpoint::sourcePort).
  bool source_ports_known = false;
  // How received packets' iCRC is checked: "device" (by hardware or kernel), and in user space
  // "exact", or "residual" where IPv4's ID is not known (soft/icrc_residual.h). Static storage.
  std::string_view icrc_check = "device";
};

// Any thread may use a device, except a soft one (soft/soft_device.h). It outlives its endpoints
// and domains.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  virtual Result<std::unique_ptr<UdEndpoint>> createUd(const UdOptions& options) = 0;
  // Creates an empty protection domain for RC endpoints and memory regions.
  virtual Result<std::unique_ptr<Domain>> createDomain() {
    return makeError(info().name, "this device has no RC endpoints");
  }
};

}  // namespace pingloom::rdma
