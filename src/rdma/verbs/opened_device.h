// A device opened for one endpoint, with its protection domain. Each endpoint opens its own, so
// that asynchronous events reach their endpoint and a removed device affects no other one. The
// endpoint and the threads that resolve addresses for it share the ownership.
#pragma once

#include <cstdint>
#include <vector>

#include "rdma/verbs/handles.h"

namespace pingloom::rdma::verbs {

struct OpenedDevice {
  Context context;
  ProtectionDomain domain;
};

// The properties that all paths of an endpoint share.
struct PathDefaults {
  std::uint8_t port = 1;
  std::uint32_t gid_index = 0;
  std::uint8_t service_level = 0;
  bool by_lid = false;           // InfiniBand
  bool global = true;            // whether there is a global header, which RoCE always has
  std::uint32_t flow_label = 0;  // used by paths that set none
  // The entries of the port's GID table that a path may choose. With RoCE a GID is the address that
  // peers know, so these are its other entries, such as that of a VLAN.
  std::vector<std::uint8_t> gid_choices;
};

}  // namespace pingloom::rdma::verbs
