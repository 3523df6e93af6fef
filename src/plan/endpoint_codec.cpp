#include "plan/endpoint_codec.h"

#include <algorithm>
#include <utility>

#include "common/text.h"

namespace pingloom::plan {
namespace {

constexpr std::uint32_t kLastQpn = 0xfffffe;  // larger numbers are multicast
constexpr std::uint32_t kFirstQpn = 2;        // 0 and 1 belong to the subnet manager and the CM
constexpr std::uint32_t kLastUnicastLid = 0xbfff;
constexpr std::uint32_t kPrivilegedQKey = 1U << 31;
constexpr std::uint32_t kLargestMtu = 4096;

Result<IpAddress> addressOf(const std::string& bytes) {
  auto address = IpAddress::fromWire(bytes);
  if (address && address->isUnspecified()) return makeError("endpoint", "has no address");
  return address;
}

// Returns the RoCE v2 GID of the address itself, which nearly every endpoint has.
std::array<std::uint8_t, 16> gidOf(const IpAddress& address) {
  if (!address.isV4()) return address.bytes();
  std::array<std::uint8_t, 16> gid{};
  gid[10] = gid[11] = 0xff;
  std::copy_n(address.bytes().begin(), 4, gid.begin() + 12);
  return gid;
}

// Returns the fault of an endpoint, or "" if it is valid.
std::string_view faultOf(const wire::Endpoint& in) {
  if (!in.gid().empty() && in.gid().size() != 16) return "its GID is not of 16 bytes";
  const bool no_gid = !in.gid().empty() && in.gid().find_first_not_of('\0') == std::string::npos;
  if (no_gid && in.lid() == 0) return "it has neither GID nor LID";
  if (in.lid() > kLastUnicastLid) return "its LID is not a unicast one";
  if (in.qpn() < kFirstQpn || in.qpn() > kLastQpn) return "its queue pair number is out of range";
  if ((in.q_key() & kPrivilegedQKey) != 0) return "its Q_Key is privileged";
  if (in.device().size() > kMaxDeviceName || !isOneWord(in.device())) return "bad device name";
  if (in.clock() < 1 || in.clock() > kClockSourceNames.size()) return "unknown clock source";
  if (in.mtu() > kLargestMtu) return "its MTU is above 4096";
  return "";
}

}  // namespace

void encode(const Endpoint& endpoint, wire::Endpoint& out) {
  out.set_address(endpoint.address.wire());
  if (endpoint.gid != gidOf(endpoint.address)) {
    out.set_gid(endpoint.gid.data(), endpoint.gid.size());
  }
  out.set_lid(endpoint.lid);
  out.set_qpn(endpoint.qpn);
  out.set_q_key(endpoint.q_key);
  out.set_device(endpoint.device);
  out.set_clock(static_cast<std::uint32_t>(endpoint.clock));
  out.set_incarnation(endpoint.incarnation);
  out.set_mtu(endpoint.mtu);
}

Result<Endpoint> decodeEndpoint(const wire::Endpoint& in) {
  const auto address = addressOf(in.address());
  if (!address) return tl::unexpected(address.error());
  const std::string_view fault = faultOf(in);
  if (!fault.empty()) return makeError("endpoint of " + address->text(), std::string(fault));
  Endpoint made;
  made.address = *address;
  if (in.gid().empty()) {
    made.gid = gidOf(*address);
  } else {
    std::copy(in.gid().begin(), in.gid().end(), made.gid.begin());
  }
  made.lid = static_cast<std::uint16_t>(in.lid());
  made.qpn = in.qpn();
  made.q_key = in.q_key();
  made.device = in.device();
  made.clock = static_cast<ClockSource>(in.clock());
  made.incarnation = in.incarnation();
  made.mtu = in.mtu();
  return made;
}

Result<HeldEndpoints> apply(const wire::EndpointUpdate& update, const HeldEndpoints& held) {
  if (update.controller() == 0 || update.version() == 0) {
    return makeError("endpoint update", "names no version");
  }
  const bool difference = update.base_version() != 0;
  const EndpointVersion& is = held.version;
  if (difference && (is.controller != update.controller() || is.number != update.base_version())) {
    return makeError("endpoint update", "starts from a table that is not held here");
  }
  auto table = difference ? *held.table : EndpointTable{};
  for (const std::string& bytes : update.removed()) {
    const auto address = addressOf(bytes);
    if (!address) return tl::unexpected(address.error());
    table.erase(*address);
  }
  for (const wire::Endpoint& in : update.changed()) {
    auto endpoint = decodeEndpoint(in);
    if (!endpoint) return tl::unexpected(endpoint.error());
    const IpAddress address = endpoint->address;
    table.insert_or_assign(address, std::move(*endpoint));
    if (table.size() > kMaxEndpoints) return makeError("endpoint update", "too many endpoints");
  }
  HeldEndpoints made;
  made.version = {update.controller(), update.version(), update.scope()};
  made.table = std::make_shared<const EndpointTable>(std::move(table));
  return made;
}

wire::EndpointUpdate encode(const HeldEndpoints& held) {
  wire::EndpointUpdate update;
  update.set_controller(held.version.controller);
  update.set_version(held.version.number);
  update.set_scope(held.version.scope);
  for (const auto& [address, endpoint] : *held.table) encode(endpoint, *update.add_changed());
  return update;
}

}  // namespace pingloom::plan
