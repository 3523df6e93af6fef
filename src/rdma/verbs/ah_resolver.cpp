#include "rdma/verbs/ah_resolver.h"

#include <atomic>
#include <cerrno>
#include <mutex>
#include <system_error>
#include <utility>

#include "common/log.h"
#include "rdma/verbs/path_attributes.h"

namespace pingloom::rdma::verbs {

struct AhResolver::Shared {
  std::shared_ptr<OpenedDevice> device;  // outlives the handles in `answers`
  PathDefaults defaults;
  std::mutex mutex;
  std::vector<Answer> answers;         // guarded by `mutex`
  std::atomic<bool> answered = false;  // a hint that `answers` may not be empty
};

AhResolver::AhResolver(std::shared_ptr<OpenedDevice> device, const PathDefaults& defaults)
    : shared_(std::make_shared<Shared>()) {
  shared_->device = std::move(device);
  shared_->defaults = defaults;
}

bool AhResolver::request(const UdPath& path, bool planned) {
  if (threads_.waiting(planned) >= (planned ? kMaxPlanned : kMaxOthers)) return false;
  return threads_.run([shared = shared_, path] { resolve(*shared, path); }, planned);
}

bool AhResolver::hasAnswers() const { return shared_->answered.load(std::memory_order_relaxed); }

std::vector<AhResolver::Answer> AhResolver::takeAnswers() {
  const std::lock_guard lock(shared_->mutex);
  shared_->answered.store(false, std::memory_order_relaxed);
  return std::exchange(shared_->answers, {});
}

void AhResolver::resolve(Shared& shared, const UdPath& path) {
  ibv_ah_attr attributes = attributesOf(path, shared.defaults);
  AddressHandle made(ibv_create_ah(shared.device->domain.get(), &attributes), {"address handle"});
  if (made == nullptr) {
    log::debug("rdma: no way to {} (LID {}): {}", path.gid.address().text(), path.lid,
               std::generic_category().message(errno));
  }
  const std::lock_guard lock(shared.mutex);
  shared.answers.push_back({path, std::move(made)});
  shared.answered.store(true, std::memory_order_relaxed);
}

}  // namespace pingloom::rdma::verbs
