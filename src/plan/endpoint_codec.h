// Converts RDMA endpoints from and to control.proto, and applies updates to the table that an agent
// holds. Any thread.
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
constexpr std::size_t kMaxEndpoints = 1 << 18;  // entries of a table; 16 MiB on the wire
constexpr std::size_t kMaxDeviceName = 64;      // in bytes, printable

void encode(const Endpoint& endpoint, wire::Endpoint& out);
// Refuses endpoints that cannot be a destination: an invalid queue pair number, a privileged Q_Key,
// no GID.
Result<Endpoint> decodeEndpoint(const wire::Endpoint& in);

// A version of the table, counted by one controller; versions of different controllers cannot be
// compared.
struct EndpointVersion {
  std::uint64_t controller = 0;
  std::uint64_t number = 0;  // counts from 1; 0 stands for none
  // A hash of the addresses that the table is limited to. 0: an older controller did not say.
  std::uint64_t scope = 0;

  bool operator==(const EndpointVersion&) const = default;
};

struct HeldEndpoints {
  EndpointVersion version;
  std::shared_ptr<const EndpointTable> table = std::make_shared<const EndpointTable>();
};

// The bytes come from outside (network or disk). After an error `held` stays in force.
Result<HeldEndpoints> apply(const wire::EndpointUpdate& update, const HeldEndpoints& held);

// Returns the update that creates the whole table `held`, which is the form on disk.
wire::EndpointUpdate encode(const HeldEndpoints& held);

}  // namespace pingloom::plan
