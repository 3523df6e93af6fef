// RC endpoints on the devices that a test writes down.
#pragma once

#include <map>
#include <memory>
#include <numeric>

#include "fake_host.h"

namespace pingloom::rdma::verbs {

// One side: a device, an endpoint and 2 MiB that its peer may do everything with.
struct RcSide {
  static constexpr std::size_t kBytes = 2U << 20;

  std::unique_ptr<Device> device;
  std::unique_ptr<Domain> domain;
  std::vector<std::uint8_t> memory;
  std::unique_ptr<rdma::MemoryRegion> region;
  std::unique_ptr<RcEndpoint> endpoint;
  RcEvents events;
  std::map<std::uint64_t, std::vector<RcStatus>> done;  // by request
  std::vector<std::uint64_t> order;                     // in which they were done
  std::vector<RcArrived> arrived;

  // REQUIRES that it works.
  explicit RcSide(std::string_view address, const RcOptions& options = everything(),
                  Access access = kEverything);
  static constexpr Access kEverything = Access::kRead | Access::kWrite | Access::kAtomic;
  static RcOptions everything();

  // Waits for the descriptor as an event loop does, at most `milliseconds`, and polls.
  Status step(int milliseconds = 20);
  // A request on the peer's region from `offset` on, with this region's first bytes.
  RcRequest request(RcOperation operation, const RcSide& peer, std::size_t bytes,
                    std::size_t offset = 0);
  PostResult post(const RcRequest& request);  // and flushes
  // The end of a request, within a few seconds; none: it did not end exactly once.
  std::optional<RcStatus> endOf(std::uint64_t id);
  // What poll() fails with, within `seconds`; "" where it does not.
  std::string failure();

 private:
  LocalPiece piece_;  // of the last request()
  std::uint64_t next_id_ = 1;
};

// REQUIRES that it works.
void connect(RcSide& a, RcSide& b);

}  // namespace pingloom::rdma::verbs
