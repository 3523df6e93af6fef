// Which agents were away at a past time, as far as the controller knew. It is an immutable value
// after its records have been added; any thread may read it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "controller/history/past_source.h"
#include "controller/model/board.h"
#include "controller/model/presence.h"

namespace pingloom::controller {

class PastPresence {
 public:
  // Records are added oldest first.
  void add(const PresenceRecord& record);

  enum class Status : std::uint8_t {
    kUnknown,  // nothing had been recorded yet
    kNever,    // no agent had the address yet
    kGone,
    kNew,  // there, but not long enough to have reported
    kThere,
  };
  // An agent that came after `new_since` is kNew.
  Status at(const IpAddress& address, Nanos utc, Nanos new_since) const;
  // Whether the agent was away at some time in [from, until], in the sense of state.h; false when
  // nothing is known. With `rdma`, a replaced endpoint counts as well.
  bool awayIn(const IpAddress& address, Nanos from_utc, Nanos until_utc, bool rdma) const;

 private:
  struct Stay {
    Nanos from_utc = 0;
    Nanos until_utc = kNever;
  };
  struct Known {
    std::vector<Stay> stays;  // ascending
    std::vector<Nanos> endpoints;
    Nanos first_utc = 0;  // time of its first record
  };
  static void close(Known& known, Nanos utc);

  std::optional<Nanos> begins_utc_;  // nothing is known about any agent before it
  Nanos last_start_utc_ = 0;         // the controller's last start
  std::unordered_map<IpAddress, Known, IpAddressHash> known_;
};

// The state of each pair of a source at a past time. Presence fills in what the window does not
// tell: a destination that was away is agent-down, and a source without a window (`window` is
// nullopt) is stale, or pending if it had just come or never came.
void pastStates(const ProbeGrid& grid, const IpAddress& source,
                const std::optional<PastWindow>& window, const PastPresence& presence, Nanos at_utc,
                States& out);

// The state that one row of a pair shows, which may be the sum of several windows.
PairState stateWithPresence(const plan::ProbeSpec& probe, const SourceRows& source, const Row& row,
                            const IpAddress& destination, const PastPresence& presence);

}  // namespace pingloom::controller
