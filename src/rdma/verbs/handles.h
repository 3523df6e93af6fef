// Owners of libibverbs objects, one move-only type each. A destructor that fails logs it and
// continues; the object is leaked until the process ends.
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <span>
#include <string_view>

#include "common/error.h"
#include "rdma/memory_region.h"

namespace pingloom::rdma::verbs {

// Logs a failed destruction, unless the device was removed, because then every destruction fails.
void reportDestruction(std::string_view what, int error_number);

template <typename T, int (*kDestroy)(T*)>
struct Destroyer {
  std::string_view what;
  void operator()(T* object) const {
    if (const int failed = kDestroy(object); failed != 0) reportDestruction(what, failed);
  }
};
template <typename T, int (*kDestroy)(T*)>
using Handle = std::unique_ptr<T, Destroyer<T, kDestroy>>;

using Context = Handle<ibv_context, ibv_close_device>;
using ProtectionDomain = Handle<ibv_pd, ibv_dealloc_pd>;
using MemoryRegionHandle = Handle<ibv_mr, ibv_dereg_mr>;
using CompletionChannel = Handle<ibv_comp_channel, ibv_destroy_comp_channel>;
using CompletionQueueHandle = Handle<ibv_cq, ibv_destroy_cq>;
using QueuePairHandle = Handle<ibv_qp, ibv_destroy_qp>;
using AddressHandle = Handle<ibv_ah, ibv_destroy_ah>;

// The list of the host's devices. Its entries are valid while the list exists; opened devices stay
// valid beyond that.
class DeviceList {
 public:
  static Result<DeviceList> get();
  std::span<ibv_device* const> devices() const { return {list_.get(), count_}; }

 private:
  struct Free {
    void operator()(ibv_device** list) const { ibv_free_device_list(list); }
  };
  std::unique_ptr<ibv_device*[], Free> list_;
  std::size_t count_ = 0;
};

// Each of these returns the object, or an error about `entity` that says what the user can do.
Result<Context> openContext(ibv_device* device);
Result<ProtectionDomain> allocateProtectionDomain(ibv_context* context, std::string_view entity);
Result<CompletionChannel> createCompletionChannel(ibv_context* context, std::string_view entity);
// Registers locally writable memory; `access` says what peers may do.
Result<MemoryRegionHandle> registerMemory(ibv_pd* pd, std::span<std::uint8_t> memory,
                                          std::string_view entity, Access access = Access::kNone);
// Returns the IBV_ACCESS_REMOTE_* flags for `access`.
unsigned remoteAccess(Access access);
// Makes the error "ENTITY: WHAT: reason", with a hint if the limit of locked memory may be the
// cause.
tl::unexpected<Error> makeVerbsError(std::string_view entity, std::string_view what,
                                     int error_number);

}  // namespace pingloom::rdma::verbs
