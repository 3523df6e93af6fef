// Reads what a controller says about the batches that it was sent, and what its ledger holds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/error.h"

namespace pingloom::bench {

// Holds the counters at /api/v1/status.
struct ControllerCounts {
  std::uint64_t batches_committed = 0;
  std::uint64_t batches_duplicate = 0;
  std::uint64_t rows_committed = 0;
  std::uint64_t messages_refused = 0;
};
Result<ControllerCounts> readCounts(const std::string& url);

// Counts the batches in the committed history itself, in the controller's state folder. Each batch
// holds one window here.
struct Committed {
  std::uint64_t windows = 0;
  std::uint64_t distinct = 0;
};
Result<Committed> readCommitted(const std::filesystem::path& state);

}  // namespace pingloom::bench
