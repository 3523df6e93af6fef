#include "rdma/verbs/registered_memory.h"

#include <cerrno>
#include <cstring>

namespace pingloom::rdma::verbs {

Result<RegisteredMemory> RegisteredMemory::create(ibv_pd* domain, std::size_t bytes,
                                                  const std::string& entity) {
  RegisteredMemory made;
  made.size_ = (bytes + kPage - 1) / kPage * kPage;
  made.bytes_.reset(static_cast<std::uint8_t*>(std::aligned_alloc(kPage, made.size_)));
  if (made.bytes_ == nullptr) return makeErrnoError(entity, "no memory for the buffers", ENOMEM);
  std::memset(made.bytes_.get(), 0, made.size_);
  auto region = registerMemory(domain, made.bytes(), entity);
  if (!region) return tl::unexpected(region.error());
  made.region_ = std::move(*region);
  return made;
}

}  // namespace pingloom::rdma::verbs
