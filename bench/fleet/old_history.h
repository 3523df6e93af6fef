// Makes a history that is three hours old, so that a controller that starts with it has as much to
// roll up and to trim as one that has run for longer. It has the windows that become old enough to
// be rolled up within the time of the benchmark, and the minutes that become old enough to be
// trimmed. What lies between is left out.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/error.h"
#include "common/time.h"
#include "fleet_agent.h"

namespace pingloom::bench {

// What the controller has to be configured to keep.
constexpr Nanos kOldRetention = 3 * kHour;

// Writes `file`, which must not exist. Windows have to be a part of a minute. From `begins_utc` on,
// for `lasts`, each window's time makes the windows of all agents due to be rolled up.
Status makeOldHistory(const std::filesystem::path& file, const FleetShape& shape,
                      std::uint32_t agents, Nanos begins_utc, Nanos lasts);

// The blocks that are older than an hour, so that none of them has arrived lately.
struct OldBlocks {
  std::uint64_t windows = 0;
  std::uint64_t due = 0;      // windows that could have been rolled up by now
  std::uint64_t minutes = 0;  // that are to be trimmed, and not those that windows have become
};
Result<OldBlocks> countOld(const std::filesystem::path& file, Nanos now_utc);

}  // namespace pingloom::bench
