// Names of flows, and what bursts over them counted. Values.
#pragma once

#include <cstdint>
#include <string>

#include "common/address.h"

namespace pingloom::controller {

struct FlowName {
  std::string probe;
  IpAddress source;
  IpAddress destination;
  std::uint32_t path = 0;  // 0: the probe has one path
};

struct FlowCounts {
  FlowName flow;
  std::uint32_t sent = 0;
  std::uint32_t lost = 0;
};

}  // namespace pingloom::controller
