#include "rdma/soft/soft_device.h"

#include <sys/epoll.h>

#include <cerrno>
#include <utility>

#include "common/log.h"
#include "common/random.h"
#include "rdma/soft/interface_mtu.h"
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
  Result<std::unique_ptr<RcEndpoint>> createRc(const RcOptions& options) override;
  Result<std::unique_ptr<MemoryRegion>> registerMemory(std::span<std::uint8_t> memory,
                                                       Access access) override;

 private:
  std::string entity() const { return "soft " + info_.gid.address().text(); }
  // Returns the MTU to use for the requested one, or an error if that is impossible.
  Result<std::uint32_t> mtuFor(std::uint32_t asked) const;

  DeviceInfo info_;
  std::unique_ptr<SoftPort> port_;
  MemoryTable memory_;
  ReceiveShare share_;
};

Result<std::uint32_t> SoftDevice::mtuFor(std::uint32_t asked) const {
  const std::uint32_t mtu = asked != 0 ? asked : info_.mtu;
  if (isPathMtu(mtu) && mtu <= info_.mtu) return mtu;
  return makeError(entity(), "an MTU of " + std::to_string(mtu) + " is not one of 256, 512, .. " +
                                 std::to_string(info_.mtu) + " (the interface's)");
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

Result<std::unique_ptr<RcEndpoint>> SoftDevice::createRc(const RcOptions& options) {
  const auto mtu = mtuFor(options.mtu);
  if (!mtu) return tl::unexpected(mtu.error());
  if (options.p_key_index != 0) return makeError(entity(), kOnePKey);
  if (options.timeout < 1 || options.timeout > 31) {
    return makeError(entity(), "an RC timeout is from 1 to 31, for 4.096 us * 2^timeout");
  }
  if (options.reads == 0 || options.depth == 0 || options.depth > kMaxDepth ||
      options.immediates > kMaxDepth) {
    return makeError(entity(),
                     "an RC endpoint needs 1 to 255 reads, a depth of 1 to 65536, and "
                     "takes at most as many immediates");
  }
  RcOptions checked = options;
  checked.mtu = *mtu;
  return SoftRcEndpoint::create(*port_, memory_, share_, checked);
}

Result<std::unique_ptr<MemoryRegion>> SoftDevice::registerMemory(std::span<std::uint8_t> memory,
                                                                 Access access) {
  const auto key = memory_.add(memory, access);
  if (!key) return makeError(entity(), "too many memory regions");
  return std::make_unique<SoftMemoryRegion>(memory_, memory, access, *key);
}

// Returns nullopt if a raw socket is not wanted, not useful or not permitted.
std::optional<net::RawUdpSocket> openRaw(const IpAddress& address, const SoftOptions& options) {
  if (!options.raw_socket || !address.isV4()) return std::nullopt;
  auto raw = net::RawUdpSocket::bind(address, kRoceUdpPort);
  if (raw) return std::move(*raw);
  log::debug("soft device: {}: IPv4 packets' iCRC is checked by its residue", raw.error().text());
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Device>> openSoftDevice(const IpAddress& address,
                                               const SoftOptions& options) {
  if (address.isUnspecified()) {
    return makeError("soft " + address.text(), "a soft device needs one address, not all");
  }
  if (auto good = check(options.impairments); !good) return tl::unexpected(good.error());
  const auto mtu = pathMtuOf(address);
  if (!mtu) return tl::unexpected(mtu.error());
  auto raw = openRaw(address, options);
  auto bound = net::UdpSocket::bind(address, kRoceUdpPort,
                                    {.unfragmented = true,
                                     .accept_no_checksum = true,
                                     .deaf = raw.has_value(),
                                     .coalesced = !raw,
                                     .port_taken = kPortTaken});
  if (!bound) return tl::unexpected(bound.error());
  UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return makeErrnoError("soft " + address.text(), "epoll_create1", errno);

  auto port = std::make_unique<SoftPort>(std::move(epoll), std::move(*bound), std::move(raw), *mtu,
                                         options.impairments);
  DeviceInfo info;
  info.name = "soft";
  info.gid = Gid::of(address);
  info.mtu = *mtu;
  info.clock = TickClock::nanoseconds(ClockSource::kKernel);
  info.flow_label_chooses_path = true;
  info.icrc_check = port->checksExactly() ? "exact" : "residual";
  return std::make_unique<SoftDevice>(std::move(info), std::move(port));
}

}  // namespace pingloom::rdma::soft
