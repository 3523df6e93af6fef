// One descriptor for all that an endpoint waits for.
#pragma once

#include <string>

#include "common/error.h"
#include "common/fd.h"

namespace pingloom::rdma::verbs {

// An epoll of both, each with itself as data; they outlive it.
Result<UniqueFd> createEventDescriptor(int completions, int asynchronous,
                                       const std::string& entity);

}  // namespace pingloom::rdma::verbs
