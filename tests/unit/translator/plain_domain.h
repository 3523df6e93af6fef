// A protection domain without a device, in which memory can be registered.
#pragma once

#include <memory>

#include "rdma/domain.h"

namespace pingloom::translator {

class PlainRegion final : public rdma::MemoryRegion {
 public:
  explicit PlainRegion(std::span<std::uint8_t> memory) : memory_(memory) {}
  std::span<std::uint8_t> memory() const override { return memory_; }
  rdma::Access access() const override { return rdma::Access::kNone; }
  std::uint64_t address() const override { return 0; }
  std::uint32_t rkey() const override { return 0; }

 private:
  std::span<std::uint8_t> memory_;
};

class PlainDomain final : public rdma::Domain {
 public:
  Result<std::unique_ptr<rdma::RcEndpoint>> createRc(const rdma::RcOptions& /*options*/) override {
    return makeError("plain domain", "has no endpoints");
  }
  Result<std::unique_ptr<rdma::MemoryRegion>> registerMemory(std::span<std::uint8_t> memory,
                                                             rdma::Access /*access*/) override {
    return std::make_unique<PlainRegion>(memory);
  }
};

}  // namespace pingloom::translator
