#include "rdma/verbs/event_descriptor.h"

#include <sys/epoll.h>

#include <cerrno>

namespace pingloom::rdma::verbs {

Result<UniqueFd> createEventDescriptor(const std::vector<int>& descriptors,
                                       const std::string& entity) {
  UniqueFd made(epoll_create1(EPOLL_CLOEXEC));
  bool added = made.valid();
  for (const int fd : descriptors) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    added = added && epoll_ctl(made.get(), EPOLL_CTL_ADD, fd, &event) == 0;
  }
  if (!added) return makeErrnoError(entity, "cannot wait for its events", errno);
  return made;
}

}  // namespace pingloom::rdma::verbs
