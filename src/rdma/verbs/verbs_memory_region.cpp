#include "rdma/verbs/verbs_memory_region.h"

namespace pingloom::rdma::verbs {

Result<std::unique_ptr<rdma::MemoryRegion>> VerbsMemoryRegion::create(
    std::shared_ptr<RcDomain> domain, std::span<std::uint8_t> memory, Access access) {
  auto region = registerMemory(domain->protection(), memory, domain->entity(), access);
  if (!region) return tl::unexpected(region.error());
  return std::unique_ptr<rdma::MemoryRegion>(
      new VerbsMemoryRegion(std::move(domain), std::move(*region), memory, access));
}

}  // namespace pingloom::rdma::verbs
