// Divides a device into protection domains. A peer that is connected to an endpoint reaches the
// memory regions of that endpoint's domain, as far as their access and the endpoint's allow, and no
// other region of the device: an rkey of another domain is unknown there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "common/error.h"
#include "rdma/memory_region.h"
#include "rdma/rc_endpoint.h"

namespace pingloom::rdma {

// The same threads as for its device may use it. It outlives its endpoints and regions.
class Domain {
 public:
  virtual ~Domain() = default;
  virtual Result<std::unique_ptr<RcEndpoint>> createRc(const RcOptions& options) = 0;
  // An endpoint can use the region for its own requests only if both are of this domain.
  // REQUIRES: `memory` outlives the region.
  virtual Result<std::unique_ptr<MemoryRegion>> registerMemory(std::span<std::uint8_t> memory,
                                                               Access access) = 0;
};

}  // namespace pingloom::rdma
