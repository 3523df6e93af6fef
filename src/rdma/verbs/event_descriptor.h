// One descriptor for all events that an endpoint waits for.
#pragma once

#include <string>

#include "common/error.h"
#include "common/fd.h"

namespace pingloom::rdma::verbs {

// Returns an epoll descriptor for both, each with itself as data. REQUIRES: they outlive it.
Result<UniqueFd> createEventDescriptor(int completions, int asynchronous,
                                       const std::string& entity);

}  // namespace pingloom::rdma::verbs
