// Memory registered with a libibverbs device; follows the contract of rdma::MemoryRegion.
#pragma once

#include <memory>

#include "rdma/memory_region.h"
#include "rdma/verbs/rc_domain.h"

namespace pingloom::rdma::verbs {

class VerbsMemoryRegion final : public rdma::MemoryRegion {
 public:
  static Result<std::unique_ptr<rdma::MemoryRegion>> create(std::shared_ptr<RcDomain> domain,
                                                            std::span<std::uint8_t> memory,
                                                            Access access);

  std::span<std::uint8_t> memory() const override { return memory_; }
  Access access() const override { return access_; }
  std::uint64_t address() const override {
    return reinterpret_cast<std::uintptr_t>(memory_.data());
  }
  std::uint32_t rkey() const override { return region_->rkey; }
  std::uint32_t localKey() const { return region_->lkey; }
  const RcDomain& domain() const { return *domain_; }

 private:
  VerbsMemoryRegion(std::shared_ptr<RcDomain> domain, MemoryRegionHandle region,
                    std::span<std::uint8_t> memory, Access access)
      : domain_(std::move(domain)), region_(std::move(region)), memory_(memory), access_(access) {}

  std::shared_ptr<RcDomain> domain_;
  MemoryRegionHandle region_;  // destroyed before the domain
  std::span<std::uint8_t> memory_;
  Access access_;
};

}  // namespace pingloom::rdma::verbs
