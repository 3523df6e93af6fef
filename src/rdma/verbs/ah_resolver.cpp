#include "rdma/verbs/ah_resolver.h"

#include <algorithm>
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
  std::vector<Answer> answers;  // guarded by `mutex`
  std::atomic<bool> bad_gid_logged = false;
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

AddressHandle AhResolver::make(Shared& shared, const UdPath& path) {
  const auto& choices = shared.defaults.gid_choices;
  if (path.gid_index &&
      std::find(choices.begin(), choices.end(), *path.gid_index) == choices.end()) {
    if (!shared.bad_gid_logged.exchange(true)) {
      log::warning(
          "rdma: gid_index {} of a probe is not this port's, or with RoCE not this address's (see "
          "pingloom devices): its pings count as unreachable",
          *path.gid_index);
    }
    return AddressHandle(nullptr, {"address handle"});
  }
  ibv_ah_attr attributes = attributesOf(path, shared.defaults);
  return AddressHandle(ibv_create_ah(shared.device->domain.get(), &attributes), {"address handle"});
}

void AhResolver::resolve(Shared& shared, const UdPath& path) {
  errno = 0;
  AddressHandle made = make(shared, path);
  if (made == nullptr) {
    log::debug("rdma: no way to {} (LID {}): {}", path.gid.address().text(), path.lid,
               std::generic_category().message(errno));
  }
  const std::lock_guard lock(shared.mutex);
  shared.answers.push_back({path, std::move(made)});
  shared.answered.store(true, std::memory_order_relaxed);
}

}  // namespace pingloom::rdma::verbs
