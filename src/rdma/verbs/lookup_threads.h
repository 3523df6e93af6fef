// Threads for calls in which the kernel resolves a neighbour, which block for a second or more if
// nothing answers. There are several, so that a few dead hosts do not delay the others; they start
// on demand and end after a while without work. The destructor waits for none of them: running
// tasks end by themselves, and waiting tasks are dropped.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace pingloom::rdma::verbs {

class LookupThreads {
 public:
  static constexpr std::size_t kMaxThreads = 64;
  using Task = std::function<void()>;

  LookupThreads();
  ~LookupThreads();
  LookupThreads(const LookupThreads&) = delete;
  LookupThreads& operator=(const LookupThreads&) = delete;

  // Returns the number of waiting tasks, either of those that are `first` or of the others.
  std::size_t waiting(bool first) const;
  // Queues a task; tasks that are `first` go ahead of the others. Returns false if no thread can be
  // started. Any thread.
  bool run(Task task, bool first);

 private:
  struct Shared;
  static void work(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace pingloom::rdma::verbs
