// Compares the size of a pinglist's RDMA PINGs with the path MTUs that are known on this machine:
// those of its own network interfaces, and those of the endpoints that a controller knows. A PING
// that does not fit never leaves its host, and its pair is `misfit`. Any thread.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "common/vocabulary.h"
#include "pinglist/pinglist.h"

namespace pingloom::cli {

class KnownMtus {
 public:
  // Adds the interfaces of this machine whose addresses are in the pinglist's lists.
  void addInterfaces(const plan::Plan& plan);
  // Adds the endpoints of live agents, from a controller's answer to /api/v1/hosts.
  void addEndpoints(const nlohmann::json& hosts);

  // Returns a sentence for each probe with PINGs that do not fit.
  std::vector<std::string> misfits(const plan::Plan& plan) const;

 private:
  // The longest PING that an address takes, and which limit that is.
  struct Limit {
    std::size_t bytes = 0;
    std::string what;
  };

  void lower(const IpAddress& address, Limit limit);
  std::string misfit(const plan::Plan& plan, const plan::ProbeSpec& probe) const;

  std::unordered_map<IpAddress, Limit, IpAddressHash> limits_;
};

// Tells whether a probe has RDMA PINGs that may be longer than the path MTU of some device.
bool dependsOnEndpoints(const plan::Plan& plan);

}  // namespace pingloom::cli
