// What the controller knows about the counters of a host's NICs and ports: the newest values, and
// by how much each grew in the recent minutes. The control thread makes them; everybody else reads
// immutable copies from the board. Values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/nic_counter.h"
#include "common/time.h"

namespace pingloom::controller {

// By how much a counter grew within one minute of the controller's clock.
struct CounterMove {
  Nanos first_utc = 0;  // when the controller first and last heard of it in this minute
  Nanos last_utc = 0;
  std::uint64_t moved = 0;

  bool operator==(const CounterMove&) const = default;
};

struct HostCounter {
  CounterId id = 0;
  std::uint64_t total = 0;         // as the device counts
  std::vector<CounterMove> moves;  // the oldest first; those of the last kKeptMinutes
};

struct HostPort {
  std::string device;
  std::uint32_t port = 0;  // 0: a network interface
  std::vector<HostCounter> counters;
};

struct HostCounters {
  static constexpr Nanos kKeptMinutes = 15;

  std::vector<HostPort> ports;  // ordered by device and port
  Nanos since_utc = 0;          // since when their moves are known without a gap
};

// Returns the start of the minute that contains the time.
constexpr Nanos minuteOf(Nanos utc) { return utc - utc % kMinute; }

// What people are shown as recent: the present minute and the five before it.
constexpr Nanos kRecentMoves = 5 * kMinute;

// Sums up the moves of the minute that contains `utc` and the later ones.
std::uint64_t movedSince(const HostCounter& counter, Nanos utc);

// Returns the number of the host's counters of errors that moved recently.
std::size_t errorsMoved(const HostCounters& counters, Nanos now_utc);

// A growth that the history keeps: of one counter within one minute.
struct CounterRecord {
  Nanos minute_utc = 0;
  std::string host;
  std::string device;
  std::uint32_t port = 0;
  CounterId counter = 0;
  std::uint64_t total = 0;  // at the end
  std::uint64_t moved = 0;
};

struct CounterStep {
  std::shared_ptr<const HostCounters> counters;  // never nullptr
  std::vector<CounterRecord> moved;              // without the host
};

// Returns the counters after an update. `before` is nullptr if none are known. With `gap`, the host
// was not heard for so long that nobody knows when its counters moved; then only the values count.
// Fails where something is said to have moved that was never told.
Result<CounterStep> applyUpdate(const HostCounters* before, const NicUpdate& update, bool gap,
                                Nanos now_utc);

}  // namespace pingloom::controller
