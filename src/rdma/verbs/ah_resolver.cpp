#include "rdma/verbs/ah_resolver.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "common/log.h"
#include "rdma/verbs/path_attributes.h"

namespace pingloom::rdma::verbs {
namespace {

constexpr std::chrono::seconds kThreadIdle(10);

}  // namespace

struct AhResolver::Shared {
  std::shared_ptr<OpenedDevice> device;  // outlives the handles in `answers`
  PathDefaults defaults;
  std::mutex mutex;
  std::condition_variable wake;
  // Under `mutex`:
  std::deque<UdPath> planned;
  std::deque<UdPath> others;
  std::vector<Answer> answers;
  std::size_t threads = 0;
  std::size_t idle = 0;  // of them, waiting for work
  bool stop = false;
  std::atomic<bool> answered = false;  // a hint: `answers` may have some

  std::size_t waiting() const { return planned.size() + others.size(); }
};

AhResolver::AhResolver(std::shared_ptr<OpenedDevice> device, const PathDefaults& defaults)
    : shared_(std::make_shared<Shared>()) {
  shared_->device = std::move(device);
  shared_->defaults = defaults;
}

AhResolver::~AhResolver() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->wake.notify_all();
}

bool AhResolver::request(const UdPath& path, bool planned) {
  const std::lock_guard lock(shared_->mutex);
  auto& queue = planned ? shared_->planned : shared_->others;
  if (queue.size() >= (planned ? kMostPlanned : kMostOthers)) return false;
  if (shared_->waiting() >= shared_->idle && shared_->threads < kMostThreads) {
    try {
      std::thread([shared = shared_] { run(shared); }).detach();
      ++shared_->threads;
    } catch (const std::system_error&) {  // the host has no more: those there are do it
      if (shared_->threads == 0) return false;
    }
  }
  queue.push_back(path);
  shared_->wake.notify_one();
  return true;
}

bool AhResolver::hasAnswers() const { return shared_->answered.load(std::memory_order_relaxed); }

std::vector<AhResolver::Answer> AhResolver::takeAnswers() {
  const std::lock_guard lock(shared_->mutex);
  shared_->answered.store(false, std::memory_order_relaxed);
  return std::exchange(shared_->answers, {});
}

void AhResolver::run(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    ++shared->idle;
    const bool work = shared->wake.wait_for(lock, kThreadIdle,
                                            [&] { return shared->stop || shared->waiting() != 0; });
    --shared->idle;
    if (!work || shared->stop || !resolveOne(*shared, lock)) {
      --shared->threads;
      return;
    }
  }
}

// False: the endpoint has gone meanwhile.
bool AhResolver::resolveOne(Shared& shared, std::unique_lock<std::mutex>& lock) {
  auto& queue = shared.planned.empty() ? shared.others : shared.planned;
  const UdPath path = queue.front();
  queue.pop_front();
  lock.unlock();
  ibv_ah_attr attributes = attributesOf(path, shared.defaults);
  AddressHandle made(ibv_create_ah(shared.device->domain.get(), &attributes), {"address handle"});
  if (made == nullptr) {
    log::debug("rdma: no way to {} (LID {}): {}", path.gid.address().text(), path.lid,
               std::generic_category().message(errno));
  }
  std::shared_ptr<ibv_ah> handle = std::move(made);
  lock.lock();
  if (shared.stop) return false;
  shared.answers.push_back({path, std::move(handle)});
  shared.answered.store(true, std::memory_order_relaxed);
  return true;
}

}  // namespace pingloom::rdma::verbs
