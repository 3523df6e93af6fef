// A report that the ledger has kept.
#pragma once

#include <cstdint>
#include <string>

namespace pingloom::controller {

struct LatestReport {
  std::uint64_t incarnation = 0;
  std::string report;  // serialized wire::Report
};

}  // namespace pingloom::controller
