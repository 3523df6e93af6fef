#include "rdma/verbs/lookup_threads.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace pingloom::rdma::verbs {
namespace {

constexpr std::chrono::seconds kThreadIdle(10);

}  // namespace

struct LookupThreads::Shared {
  mutable std::mutex mutex;
  std::condition_variable wake;
  // The members below are guarded by `mutex`.
  std::deque<Task> first;
  std::deque<Task> others;
  std::size_t threads = 0;
  std::size_t idle = 0;  // the number of threads that wait for work
  bool stop = false;

  std::size_t waiting() const { return first.size() + others.size(); }
};

LookupThreads::LookupThreads() : shared_(std::make_shared<Shared>()) {}

LookupThreads::~LookupThreads() {
  std::deque<Task> first, others;  // the tasks are destroyed without the lock
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  first.swap(shared_->first);
  others.swap(shared_->others);
  shared_->wake.notify_all();
}

std::size_t LookupThreads::waiting(bool first) const {
  const std::lock_guard lock(shared_->mutex);
  return first ? shared_->first.size() : shared_->others.size();
}

bool LookupThreads::run(Task task, bool first) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->waiting() >= shared_->idle && shared_->threads < kMaxThreads) {
    try {
      std::thread([shared = shared_] { work(shared); }).detach();
      ++shared_->threads;
      // the host is out of threads; the existing ones run the task
    } catch (const std::system_error&) {
      if (shared_->threads == 0) return false;
    }
  }
  (first ? shared_->first : shared_->others).push_back(std::move(task));
  shared_->wake.notify_one();
  return true;
}

void LookupThreads::work(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  for (;;) {
    ++shared->idle;
    shared->wake.wait_for(lock, kThreadIdle,
                          [&] { return shared->stop || shared->waiting() != 0; });
    --shared->idle;
    if (shared->stop || shared->waiting() == 0) {
      --shared->threads;
      return;
    }
    auto& queue = shared->first.empty() ? shared->others : shared->first;
    Task task = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    task();
    task = nullptr;  // the task may hold the last reference to its device
    lock.lock();
  }
}

}  // namespace pingloom::rdma::verbs
