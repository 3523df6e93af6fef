// A device opened for one endpoint, with its protection domain: each endpoint has its own, so that
// asynchronous events find their endpoint and a removed device takes nothing else with it. Shared
// by the endpoint and the threads that resolve addresses for it, whichever ends last.
#pragma once

#include <cstdint>

#include "rdma/verbs/handles.h"

namespace pingloom::rdma::verbs {

struct OpenedDevice {
  Context context;
  ProtectionDomain domain;
};

// What all paths of an endpoint have in common.
struct PathDefaults {
  std::uint8_t port = 1;
  std::uint32_t gid_index = 0;
  std::uint8_t service_level = 0;
  bool by_lid = false;           // InfiniBand
  bool global = true;            // with a global header; RoCE always
  std::uint32_t flow_label = 0;  // where a path has none
};

}  // namespace pingloom::rdma::verbs
