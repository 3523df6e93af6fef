#include "controller/control/registration.h"

#include <algorithm>
#include <utility>

#include "plan/endpoint_codec.h"
#include "wire/control_protocol.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxVersionText = 128;
constexpr Nanos kFarthestStart = 365 * 24 * kHour;

Refusal bad(std::string text) { return {wire::Refused::BAD_MESSAGE, std::move(text)}; }

tl::expected<std::vector<IpAddress>, Refusal> readAddresses(
    const google::protobuf::RepeatedPtrField<std::string>& field) {
  if (static_cast<std::size_t>(field.size()) > wire::kMaxHostAddresses) {
    return tl::unexpected(bad("more than 256 addresses"));
  }
  std::vector<IpAddress> addresses;
  for (const std::string& bytes : field) {
    const auto address = IpAddress::fromWire(bytes);
    if (!address || address->isUnspecified())
      return tl::unexpected(bad("malformed or unspecified address"));
    addresses.push_back(*address);
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

tl::expected<std::vector<IpAddress>, Refusal> readRdmaAddresses(
    const wire::Register& request, const std::vector<IpAddress>& addresses) {
  auto rdma = readAddresses(request.rdma_addresses());
  if (rdma && !std::includes(addresses.begin(), addresses.end(), rdma->begin(), rdma->end())) {
    return tl::unexpected(bad("an RDMA device at what is no address of the agent"));
  }
  return rdma;
}

// Reads at most one endpoint for each of the addresses, which are sorted.
tl::expected<std::vector<plan::Endpoint>, Refusal> readEndpoints(
    const wire::Register& request, const std::vector<IpAddress>& addresses) {
  if (static_cast<std::size_t>(request.endpoints_size()) > addresses.size()) {
    return tl::unexpected(bad("more endpoints than addresses"));
  }
  std::vector<plan::Endpoint> endpoints;
  for (const wire::Endpoint& in : request.endpoints()) {
    auto endpoint = plan::decodeEndpoint(in);
    if (!endpoint) return tl::unexpected(bad(endpoint.error().text()));
    if (!std::binary_search(addresses.begin(), addresses.end(), endpoint->address)) {
      return tl::unexpected(
          bad("an endpoint at " + endpoint->address.text() + ", which is no address of the agent"));
    }
    endpoint->incarnation = request.incarnation();
    endpoints.push_back(std::move(*endpoint));
  }
  const auto by_address = [](const auto& a, const auto& b) { return a.address < b.address; };
  std::sort(endpoints.begin(), endpoints.end(), by_address);
  const auto twice =
      std::adjacent_find(endpoints.begin(), endpoints.end(),
                         [](const auto& a, const auto& b) { return a.address == b.address; });
  if (twice != endpoints.end()) {
    return tl::unexpected(bad("two endpoints at " + twice->address.text()));
  }
  return endpoints;
}

std::optional<Refusal> faultOf(const wire::Register& request, Nanos now_utc) {
  if (request.control_version() != wire::kControlVersion) {
    return Refusal{wire::Refused::BAD_VERSION,
                   "control version " + std::to_string(request.control_version()) +
                       " is not spoken here, but " + std::to_string(wire::kControlVersion)};
  }
  if (!wire::isHostName(request.host())) {
    return bad("the host id has to have 1 to 253 characters and no blanks");
  }
  // Batches of an incarnation in the far future would make all later incarnations of the host look
  // old.
  if (request.incarnation() == 0 ||
      request.incarnation() > static_cast<std::uint64_t>(now_utc + kFarthestStart)) {
    return bad(
        "the incarnation is 0 or more than a year ahead of the controller's clock; where the "
        "agent's clock was wrong, remove 'incarnation' from its state_dir");
  }
  if (request.port() > 65535) return bad("the port is out of range");
  if (request.software_version().size() > kMaxVersionText) return bad("the version is too long");
  return std::nullopt;
}

}  // namespace

tl::expected<Registration, Refusal> readRegistration(const wire::Register& request, Nanos now_utc) {
  if (auto fault = faultOf(request, now_utc)) return tl::unexpected(std::move(*fault));
  auto addresses = readAddresses(request.addresses());
  if (!addresses) return tl::unexpected(std::move(addresses.error()));
  auto endpoints = readEndpoints(request, *addresses);
  if (!endpoints) return tl::unexpected(std::move(endpoints.error()));
  auto rdma = readRdmaAddresses(request, *addresses);
  if (!rdma) return tl::unexpected(std::move(rdma.error()));
  return Registration{std::move(*addresses), std::move(*rdma), std::move(*endpoints)};
}

}  // namespace pingloom::controller
