// Which agents were away at a past time, as far as the controller knew. An immutable value once
// its records are in; any thread.
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
  // Oldest first.
  void add(const PresenceRecord& record);

  enum class Status : std::uint8_t {
    kUnknown,  // from before anything was recorded
    kNever,    // no agent had the address yet
    kGone,
    kNew,  // there, and not yet long enough to have reported
    kThere,
  };
  // Who came after `new_since` is kNew.
  Status at(const IpAddress& address, Nanos utc, Nanos new_since) const;
  // Not there at some time in [from, until], as states go: see state.h. False where nothing is
  // known. `rdma`: an endpoint that was made anew counts too.
  bool awayIn(const IpAddress& address, Nanos from_utc, Nanos until_utc, bool rdma) const;

 private:
  struct Stay {
    Nanos from_utc = 0;
    Nanos until_utc = kNever;
  };
  struct Known {
    std::vector<Stay> stays;  // ascending
    std::vector<Nanos> endpoints;
    Nanos first_utc = 0;  // of its records
  };
  static void close(Known& known, Nanos utc);

  std::optional<Nanos> begins_utc_;  // before it nothing is known of anyone
  Nanos last_start_utc_ = 0;         // of the controller
  std::unordered_map<IpAddress, Known, IpAddressHash> known_;
};

// The state of each pair of a source at a past time. Where its window tells less than was known,
// presence does: a destination that was away is agent-down, and a source without a window
// (`window` is nullopt) is stale, or pending where it had only just come or never did.
void pastStates(const ProbeGrid& grid, const IpAddress& source,
                const std::optional<PastWindow>& window, const PastPresence& presence, Nanos at_utc,
                States& out);

// The same of one row of a pair, which may be of several windows.
PairState stateWithPresence(const plan::ProbeSpec& probe, const SourceRows& source, const Row& row,
                            const IpAddress& destination, const PastPresence& presence);

}  // namespace pingloom::controller
