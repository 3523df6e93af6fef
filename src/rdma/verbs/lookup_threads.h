// Threads for what the kernel asks the network, which takes a second or more where nobody answers.
// Several, so that a few dead hosts do not keep the others waiting; they are made as they are
// needed and end when there is nothing to do for a while. Destruction waits for none of them: what
// is under way ends by itself, what has not begun never does.
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

  // Tasks that have not begun, of those that are `first` or of the others.
  std::size_t waiting(bool first) const;
  // The first before the others. False: the host has no thread for it. Any thread.
  bool run(Task task, bool first);

 private:
  struct Shared;
  static void work(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace pingloom::rdma::verbs
