#include "rdma/verbs/handles.h"

#include <sys/resource.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "common/log.h"
#include "rdma/verbs/device_choice.h"

namespace pingloom::rdma::verbs {
namespace {

// Registered memory and queues are pinned; without CAP_IPC_LOCK they count against this limit.
std::string memlockHint(int error_number) {
  if (error_number != ENOMEM) return "";
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return fmt::format(
      " (the limit of locked memory is {} KiB; raise it: LimitMEMLOCK=infinity in the service, or "
      "ulimit -l unlimited)",
      limit.rlim_cur / 1024);
}

}  // namespace

void reportDestruction(std::string_view what, int error_number) {
  const auto level = error_number == EIO ? log::Level::kDebug : log::Level::kWarning;
  log::at(level, "rdma: cannot destroy a {}: {}", what,
          std::generic_category().message(error_number));
}

tl::unexpected<Error> makeVerbsError(std::string_view entity, std::string_view what,
                                     int error_number) {
  auto made = makeErrnoError(entity, what, error_number);
  made.value().reason += memlockHint(error_number);
  return made;
}

Result<DeviceList> DeviceList::get() {
  DeviceList made;
  int count = 0;
  made.list_.reset(ibv_get_device_list(&count));
  if (made.list_ == nullptr) {
    if (errno == ENOSYS) {
      return makeError("rdma", fmt::format("the kernel has no RDMA: load its modules (modprobe "
                                           "ib_uverbs), {}",
                                           kOrSoft));
    }
    return makeErrnoError("rdma", "cannot list the devices", errno);
  }
  made.count_ = static_cast<std::size_t>(count);
  return made;
}

Result<Context> openContext(ibv_device* device) {
  Context context(ibv_open_device(device), {"device context"});
  if (context != nullptr) return context;
  const int failed = errno;
  const std::string what =
      fmt::format("cannot open /dev/infiniband/{}", static_cast<const char*>(device->dev_name));
  if (failed == EACCES || failed == EPERM) {
    return makeError(device->name,
                     what +
                         ": no permission: run as a user of the group that owns it, or give "
                         "that group read and write access by a udev rule");
  }
  if (failed == ENOENT || failed == ENODEV || failed == ENXIO) {
    return makeError(device->name,
                     what +
                         ": it is not there: load ib_uverbs, and pass /dev/infiniband into the "
                         "container where there is one");
  }
  return makeErrnoError(device->name, what, failed);
}

Result<ProtectionDomain> allocateProtectionDomain(ibv_context* context, std::string_view entity) {
  ProtectionDomain made(ibv_alloc_pd(context), {"protection domain"});
  if (made == nullptr) return makeVerbsError(entity, "cannot make a protection domain", errno);
  return made;
}

Result<CompletionChannel> createCompletionChannel(ibv_context* context, std::string_view entity) {
  CompletionChannel made(ibv_create_comp_channel(context), {"completion channel"});
  if (made == nullptr) return makeVerbsError(entity, "cannot make a completion channel", errno);
  return made;
}

unsigned remoteAccess(Access access) {
  unsigned flags = 0;
  if (allows(access, Access::kRead)) flags |= IBV_ACCESS_REMOTE_READ;
  if (allows(access, Access::kWrite)) flags |= IBV_ACCESS_REMOTE_WRITE;
  if (allows(access, Access::kAtomic)) flags |= IBV_ACCESS_REMOTE_ATOMIC;
  return flags;
}

Result<MemoryRegionHandle> registerMemory(ibv_pd* pd, std::span<std::uint8_t> memory,
                                          std::string_view entity, Access access) {
  // The flags are an int because ibv_reg_mr is a macro that mixes them with another enumeration.
  const int flags = static_cast<int>(IBV_ACCESS_LOCAL_WRITE | remoteAccess(access));
  MemoryRegionHandle made(ibv_reg_mr(pd, memory.data(), memory.size(), flags), {"memory region"});
  if (made == nullptr) {
    return makeVerbsError(
        entity, fmt::format("cannot register {} KiB of memory", memory.size() / 1024), errno);
  }
  return made;
}

}  // namespace pingloom::rdma::verbs
