// RDMA endpoints <-> control.proto, and the table of them as an agent holds it. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "common/error.h"
#include "control.pb.h"
#include "plan/endpoint.h"

namespace pingloom::plan {

// Bounds on what either side accepts.
constexpr std::size_t kMaxEndpoints = 1 << 18;  // in a table; 16 MiB on the wire
constexpr std::size_t kMaxDeviceName = 64;      // bytes, printable

void encode(const Endpoint& endpoint, wire::Endpoint& out);
// Refuses what could not be sent to: a queue pair number that is none, a privileged Q_Key, no GID.
Result<Endpoint> decodeEndpoint(const wire::Endpoint& in);

// Counted by one controller; numbers of different ones say nothing about each other.
struct EndpointVersion {
  std::uint64_t controller = 0;
  std::uint64_t number = 0;  // from 1; 0: none

  bool operator==(const EndpointVersion&) const = default;
};

struct HeldEndpoints {
  EndpointVersion version;
  std::shared_ptr<const EndpointTable> table = std::make_shared<const EndpointTable>();
};

// The bytes come from outside (network or disk). An error leaves `held` in force.
Result<HeldEndpoints> apply(const wire::EndpointUpdate& update, const HeldEndpoints& held);

// The update that makes `held` of nothing: the form on disk.
wire::EndpointUpdate encode(const HeldEndpoints& held);

}  // namespace pingloom::plan
