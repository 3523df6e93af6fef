#include <unistd.h>

#include <cstdlib>

#include "objects.h"

namespace fake {

void CompletionQueue::push(const WorkCompletion& completion) {
  waiting.push_back(completion);
  if (static_cast<int>(waiting.size()) > ibv_cq_ex::cqe) {
    ibv_async_event event{};
    event.element.cq = ibv_cq_ex_to_cq(this);
    event.event_type = IBV_EVENT_CQ_ERR;
    owner().raise(event);
    waiting.pop_back();
  }
  if (!armed || ibv_cq_ex::channel == nullptr) return;
  armed = false;
  CompletionQueue* self = this;
  if (write(static_cast<Channel*>(ibv_cq_ex::channel)->write_fd, &self, sizeof self) !=
      sizeof self) {
    std::abort();
  }
}

bool CompletionQueue::pop(WorkCompletion& into) {
  if (waiting.empty()) return false;
  into = waiting.front();
  waiting.pop_front();
  into.pair->sends_under_way -= into.frees;
  return true;
}

}  // namespace fake
