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
    kGone = 0,      // of no address: the controller began to know nothing of anyone
    kCame = 1,      // and was away before
    kStayed = 2,    // is known to be there, and was all the time before
    kEndpoint = 3,  // has another RDMA endpoint
  };
  Nanos utc = 0;
  std::optional<IpAddress> address;  // nullopt: of everyone
  Kind kind = Kind::kGone;

  bool operator==(const PresenceRecord&) const = default;
};

}  // namespace pingloom::controller
