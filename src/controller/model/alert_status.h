// What is known about the targets of alerts (docs/alerts.md). Values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/time.h"

namespace pingloom::controller {

struct AlertTargetStatus {
  std::string name;
  std::string kind;
  std::uint64_t delivered = 0;
  std::uint64_t failed = 0;      // attempts
  std::uint64_t dropped = 0;     // notifications that were given up
  std::uint64_t waiting = 0;     // notifications in the queue on disk
  std::string last_error;        // "" after a delivery
  Nanos last_delivered_utc = 0;  // 0: never since the start

  bool operator==(const AlertTargetStatus&) const = default;
};
using AlertStatuses = std::vector<AlertTargetStatus>;  // in the configuration's order

}  // namespace pingloom::controller
