// One descriptor for all events that an endpoint waits for.
#pragma once

#include <string>
#include <vector>

#include "common/error.h"
#include "common/fd.h"

namespace pingloom::rdma::verbs {

// Returns an epoll descriptor for all of these, each with itself as data. REQUIRES: they outlive
// it.
Result<UniqueFd> createEventDescriptor(const std::vector<int>& descriptors,
                                       const std::string& entity);

}  // namespace pingloom::rdma::verbs
