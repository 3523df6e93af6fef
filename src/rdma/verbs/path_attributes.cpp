#include "rdma/verbs/path_attributes.h"

#include <cstring>

namespace pingloom::rdma::verbs {
namespace {

// The maximum of IP's hop limit, because the distance to a peer is not limited.
constexpr std::uint8_t kHopLimit = 255;

}  // namespace

ibv_ah_attr attributesOf(const UdPath& path, const PathDefaults& defaults) {
  ibv_ah_attr attributes{};
  attributes.port_num = defaults.port;
  attributes.sl = path.service_level.value_or(defaults.service_level);
  if (defaults.by_lid) attributes.dlid = path.lid;
  if (defaults.global || path.gid_index) {  // only a global header has a GID
    attributes.is_global = 1;
    std::memcpy(attributes.grh.dgid.raw, path.gid.bytes.data(), path.gid.bytes.size());
    attributes.grh.sgid_index =
        path.gid_index.value_or(static_cast<std::uint8_t>(defaults.gid_index));
    attributes.grh.flow_label = path.flow_label != 0 ? path.flow_label : defaults.flow_label;
    attributes.grh.hop_limit = kHopLimit;
    attributes.grh.traffic_class = path.traffic_class;
  }
  return attributes;
}

}  // namespace pingloom::rdma::verbs
