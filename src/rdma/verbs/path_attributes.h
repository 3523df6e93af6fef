// Converts a path to libibverbs' attributes of an address handle or of a connected queue pair.
#pragma once

#include "rdma/ud_endpoint.h"
#include "rdma/verbs/opened_device.h"

namespace pingloom::rdma::verbs {

ibv_ah_attr attributesOf(const UdPath& path, const PathDefaults& defaults);

}  // namespace pingloom::rdma::verbs
