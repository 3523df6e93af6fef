// Hears of single pings that go wrong, as soon as a transport knows. A window tells only when it
// closes, which may be seconds later.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "common/address.h"
#include "common/time.h"
#include "plan/plan.h"

namespace pingloom::probe {

enum class PingEvent : std::uint8_t {
  kLost,         // no answer arrived within the timeout; it may still arrive, and is late then
  kLate,         // an answer arrived after the timeout, even if a window excuses it by a stall
  kRefused,      // the target's host refused the ping
  kUnreachable,  // the network or the kernel said that the ping does not arrive
};
constexpr std::array<std::string_view, 4> kPingEventNames = {"lost", "late", "refused",
                                                             "unreachable"};
constexpr std::string_view name(PingEvent event) {
  return kPingEventNames[static_cast<std::size_t>(event)];
}

class PingListener {
 public:
  virtual ~PingListener() = default;
  // Called by any transport's thread, which must not wait. `after` is the time since the ping left.
  virtual void pingEvent(PingEvent event, const plan::Assignment& assignment,
                         const IpAddress& destination, Nanos after) = 0;
};

}  // namespace pingloom::probe
