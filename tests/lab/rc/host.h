// One side of an RC connection in the lab: on kernel Soft-RoCE by verbs, or on a soft device, whose
// sockets live in the network namespace of its host although this process does not. So one process
// has both sides, and sees the memory of both.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/fd.h"
#include "rdma/device.h"

namespace pingloom::lab {

constexpr rdma::Access kAll = rdma::Access::kRead | rdma::Access::kWrite | rdma::Access::kAtomic;

// Where a host's device is.
struct Place {
  std::string address;
  std::string network;  // the soft device's network namespace; none: the device is rxe's

  bool isSoft() const { return !network.empty(); }
  const char* name() const { return isSoft() ? "soft" : "rxe"; }
};

// Sockets that this thread opens meanwhile belong to that network namespace.
class InNetwork {
 public:
  explicit InNetwork(const std::string& name);
  ~InNetwork();
  InNetwork(const InNetwork&) = delete;
  InNetwork& operator=(const InNetwork&) = delete;

 private:
  UniqueFd home_;
};

rdma::RcOptions permitting(rdma::Access access, std::uint32_t mtu = 0);

class Host {
 public:
  static constexpr std::size_t kMemory = (1 << 20) + 4096;

  explicit Host(const Place& place, std::size_t bytes = kMemory);

  const char* name() const { return place_.name(); }
  bool isSoft() const { return place_.isSoft(); }
  rdma::Device& device() { return *device_; }
  std::span<std::uint8_t> memory() { return memory_; }
  const rdma::MemoryRegion& region() const { return *region_; }
  rdma::RcEndpoint& endpoint() { return *endpoint_; }

  // Instead of the region there was, and of the endpoint.
  void registerMemory(rdma::Access access);
  void makeEndpoint(const rdma::RcOptions& options);
  void closeEndpoint() { endpoint_.reset(); }

  void poll();
  // Since the endpoint was made.
  const std::vector<rdma::RcDone>& done() const { return done_; }
  const std::vector<rdma::RcArrived>& arrived() const { return arrived_; }
  const std::string& whyFailed() const { return why_; }
  std::uint64_t dropped(std::string_view reason) const;

 private:
  Place place_;
  std::vector<std::uint8_t> memory_;
  std::unique_ptr<rdma::Device> device_;
  std::unique_ptr<rdma::Domain> domain_;
  std::unique_ptr<rdma::MemoryRegion> region_;
  std::unique_ptr<rdma::RcEndpoint> endpoint_;
  rdma::RcEvents events_;
  std::vector<rdma::RcDone> done_;
  std::vector<rdma::RcArrived> arrived_;
  std::string why_;
};

}  // namespace pingloom::lab
