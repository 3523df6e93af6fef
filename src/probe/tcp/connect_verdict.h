// What a connect counts as. Pure functions; any thread.
#pragma once

#include "probe/tcp/connect_socket.h"
#include "probe/window.h"

namespace pingloom::probe::tcp {

enum class ConnectVerdict : std::uint8_t {
  kNone,       // still under way, and in time
  kReceived,   // connected in time
  kStalled,    // connected, as far as can be told in time; this host was late to notice
  kLost,       // no answer in time, and none yet
  kLostLate,   // the answer came after the timeout
  kUndecided,  // no answer yet, but this host stalled: it may still turn out to be kStalled
  kRefused,
  kUnreachable,
};

// `elapsed` since the connect was started; `stalled`: this host stalled in that time.
ConnectVerdict verdictOf(const ConnectState& state, Nanos elapsed, Nanos timeout, bool stalled);

// Counts it, with its times; `sent` is the caller's. REQUIRES: a verdict (not kNone, kUndecided).
void countConnect(PairWindow& pair, ConnectVerdict verdict, const ConnectState& state,
                  Nanos elapsed);

}  // namespace pingloom::probe::tcp
