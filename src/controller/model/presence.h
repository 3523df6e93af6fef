// One entry of the history of who was present: the control thread writes it
// (control/presence_log.h), the ledger stores it, and a query about the past reads it back
// (history/past_presence.h).
#pragma once

#include <cstdint>
#include <optional>

#include "common/address.h"
#include "common/time.h"

namespace pingloom::controller {

struct PresenceRecord {
  // Numbers on disk: never changed.
  enum class Kind : std::uint8_t {
    kGone = 0,      // without an address: the controller started and knows no agent
    kCame = 1,      // it was away before
    kStayed = 2,    // it is present, and was present all the time before
    kEndpoint = 3,  // it has another RDMA endpoint
  };
  Nanos utc = 0;
  std::optional<IpAddress> address;  // nullopt stands for all addresses
  Kind kind = Kind::kGone;

  bool operator==(const PresenceRecord&) const = default;
};

}  // namespace pingloom::controller
