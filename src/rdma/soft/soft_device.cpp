#include "rdma/soft/soft_device.h"

#include <sys/epoll.h>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <utility>

#include "common/log.h"
#include "common/random.h"
#include "net/udp_group.h"
#include "rdma/soft/interface_mtu.h"
#include "rdma/soft/packet_layout.h"
#include "rdma/soft/rc/memory_table.h"
#include "rdma/soft/rc/receive_share.h"
#include "rdma/soft/rc/soft_rc_endpoint.h"
#include "rdma/soft/soft_port.h"
#include "rdma/soft/soft_ud_endpoint.h"

namespace pingloom::rdma::soft {
namespace {

constexpr std::uint32_t kMaxDepth = 65'536;
constexpr std::string_view kOnePKey = "it has only the default P_Key, at index 0";
constexpr std::string_view kPortTaken =
    "UDP port 4791 is taken: by another soft device (an agent?), or by the kernel's rdma_rxe, "
    "which "
    "takes it for all addresses; unload that (rmmod rdma_rxe) or use its devices. The other way "
    "round, rdma_rxe does not load while a soft device has the port";

class SoftDevice final : public Device {
 public:
  SoftDevice(DeviceInfo info, std::unique_ptr<SoftPort> port)
      : info_(std::move(info)), port_(std::move(port)), share_(port_->receiveBuffer()) {}

  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<UdEndpoint>> createUd(const UdOptions& options) override;
  Result<std::unique_ptr<Domain>> createDomain() override;

  std::string entity() const { return "soft " + info_.gid.address().text(); }
  // Returns the MTU to use for the requested one, or an error if that is impossible.
  Result<std::uint32_t> mtuFor(std::uint32_t asked) const;
  SoftPort& port() { return *port_; }
  ReceiveShare& share() { return share_; }

 private:
  DeviceInfo info_;
  std::unique_ptr<SoftPort> port_;
  ReceiveShare share_;
};

// Each domain has a memory table of its own, so that its endpoints find no other domain's regions.
class SoftDomain final : public Domain {
 public:
  explicit SoftDomain(SoftDevice& device) : device_(device) {}

  Result<std::unique_ptr<RcEndpoint>> createRc(const RcOptions& options) override;
  Result<std::unique_ptr<MemoryRegion>> registerMemory(std::span<std::uint8_t> memory,
                                                       Access access) override;

 private:
  SoftDevice& device_;
  MemoryTable memory_;
};

Result<std::uint32_t> SoftDevice::mtuFor(std::uint32_t asked) const {
  if (auto fault = port_->interface().fault(); !fault.empty()) return makeError(entity(), fault);
  const std::uint32_t most = port_->interface().state().mtu;  // it may have changed
  const std::uint32_t mtu = asked != 0 ? asked : most;
  if (isPathMtu(mtu) && mtu <= most) return mtu;
  return makeError(entity(), "an MTU of " + std::to_string(mtu) + " is not one of 256, 512, .. " +
                                 std::to_string(most) + " (the interface's)");
}

Result<std::unique_ptr<UdEndpoint>> SoftDevice::createUd(const UdOptions& options) {
  const auto mtu = mtuFor(options.mtu);
  if (!mtu) return tl::unexpected(mtu.error());
  if (options.p_key_index != 0) return makeError(entity(), kOnePKey);
  const std::uint32_t q_key =
      options.q_key.value_or(static_cast<std::uint32_t>(randomU64()) & ~kPrivilegedQKey);
  if ((q_key & kPrivilegedQKey) != 0)
    return makeError(entity(), "a Q_Key's bit 31 has to be clear");
  return SoftUdEndpoint::create(*port_, *mtu, q_key, options.flow_label);
}

Result<std::unique_ptr<Domain>> SoftDevice::createDomain() {
  return std::make_unique<SoftDomain>(*this);
}

Result<std::unique_ptr<RcEndpoint>> SoftDomain::createRc(const RcOptions& options) {
  const auto mtu = device_.mtuFor(options.mtu);
  if (!mtu) return tl::unexpected(mtu.error());
  if (options.p_key_index != 0) return makeError(device_.entity(), kOnePKey);
  if (options.timeout < 1 || options.timeout > 31) {
    return makeError(device_.entity(), "an RC timeout is from 1 to 31, for 4.096 us * 2^timeout");
  }
  if (options.reads == 0 || options.depth == 0 || options.depth > kMaxDepth ||
      options.immediates > kMaxDepth) {
    return makeError(device_.entity(),
                     "an RC endpoint needs 1 to 255 reads, a depth of 1 to 65536, and "
                     "takes at most as many immediates");
  }
  RcOptions checked = options;
  checked.mtu = *mtu;
  return SoftRcEndpoint::create(device_.port(), memory_, device_.share(), checked);
}

Result<std::unique_ptr<MemoryRegion>> SoftDomain::registerMemory(std::span<std::uint8_t> memory,
                                                                 Access access) {
  const auto key = memory_.add(memory, access);
  if (!key) return makeError(device_.entity(), "too many memory regions");
  return std::make_unique<SoftMemoryRegion>(memory_, memory, access, *key);
}

// A packet is for the device with the class of its destination QPN.
constexpr net::PayloadField kQpnField = {offsetof(BthLayout, congestion_qpn), kMask24};

// Returns no sockets if raw ones are not wanted, not useful or not permitted.
std::vector<net::RawUdpSocket> openRaw(const IpAddress& address, std::uint32_t count,
                                       const SoftOptions& options) {
  std::vector<net::RawUdpSocket> made;
  if (!options.raw_socket || !address.isV4()) return made;
  for (std::uint32_t i = 0; i < count; ++i) {
    auto raw = net::RawUdpSocket::bind(address, kRoceUdpPort, {kQpnField, count, i});
    if (!raw) {
      log::debug("soft device: {}: IPv4 packets' iCRC is checked by its residue",
                 raw.error().text());
      return {};
    }
    made.push_back(std::move(*raw));
  }
  return made;
}

DeviceInfo infoOf(const IpAddress& address, std::uint32_t mtu, const SoftPort& port) {
  DeviceInfo info;
  info.name = "soft";
  info.gid = Gid::of(address);
  info.mtu = mtu;
  info.clock = TickClock::nanoseconds(ClockSource::kKernel);
  info.flow_label_chooses_path = true;
  info.source_ports_known = true;
  info.icrc_check = port.checksExactly() ? "exact" : "residual";
  return info;
}

}  // namespace

Result<std::unique_ptr<Device>> openSoftDevice(const IpAddress& address,
                                               const SoftOptions& options) {
  auto opened = openSoftDevices(address, 1, options);
  if (!opened) return tl::unexpected(opened.error());
  return std::move(opened->front());
}

Result<std::vector<std::unique_ptr<Device>>> openSoftDevices(const IpAddress& address,
                                                             std::uint32_t count,
                                                             const SoftOptions& options) {
  if (address.isUnspecified()) {
    return makeError("soft " + address.text(), "a soft device needs one address, not all");
  }
  if (auto good = check(options.impairments); !good) return tl::unexpected(good.error());
  const auto mtu = pathMtuOf(address);
  if (!mtu) return tl::unexpected(mtu.error());
  auto raw = openRaw(address, count, options);
  // A deaf socket that takes coalesced datagrams drops those of a whole message at once; the kernel
  // would cut the message into packets first. Only on loopback, where messages arrive as they were
  // sent: elsewhere the kernel would join packets whose IPv4 IDs only it has seen.
  const bool coalesced = raw.empty() || address.isLoopback();
  auto bound = net::bindGroup(address, kRoceUdpPort, count, kQpnField,
                              {.unfragmented = true,
                               .accept_no_checksum = true,
                               .deaf = !raw.empty(),
                               .coalesced = coalesced,
                               .port_taken = kPortTaken});
  if (!bound) return tl::unexpected(bound.error());
  std::vector<std::unique_ptr<Device>> made;
  for (std::uint32_t i = 0; i < count; ++i) {
    UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
    if (!epoll.valid()) return makeErrnoError("soft " + address.text(), "epoll_create1", errno);
    auto port =
        std::make_unique<SoftPort>(std::move(epoll), std::move((*bound)[i]),
                                   raw.empty() ? std::nullopt : std::optional(std::move(raw[i])),
                                   options.impairments, QpnClass{count, i});
    made.push_back(std::make_unique<SoftDevice>(infoOf(address, *mtu, *port), std::move(port)));
  }
  return made;
}

}  // namespace pingloom::rdma::soft
