// Reads what an agent registers with. All of it is hostile: it is bounded and checked, and refused
// as a whole. Any thread; no state.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "control.pb.h"
#include "plan/endpoint.h"

namespace pingloom::controller {

struct Refusal {
  wire::Refused::Reason reason = wire::Refused::UNKNOWN;
  std::string text;
};

struct Registration {
  std::vector<IpAddress> addresses;       // ascending, each once
  std::vector<IpAddress> rdma_addresses;  // some of the addresses, ascending
  std::vector<plan::Endpoint> endpoints;  // at most one at each of the addresses, by address
};

tl::expected<Registration, Refusal> readRegistration(const wire::Register& request, Nanos now_utc);

}  // namespace pingloom::controller
