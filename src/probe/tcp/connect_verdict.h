// Decides how a connect is counted. Pure functions; any thread.
#pragma once

#include "probe/tcp/connect_socket.h"
#include "probe/window.h"

namespace pingloom::probe::tcp {

enum class ConnectVerdict : std::uint8_t {
  kNone,       // in flight, and the timeout is not over
  kReceived,   // connected in time
  kStalled,    // probably connected in time, but this host noticed it late
  kLost,       // no answer by the timeout
  kLostLate,   // the answer came after the timeout
  kUndecided,  // no answer by the timeout, but this host stalled: it may become kStalled
  kRefused,
  kUnreachable,
};

// `elapsed` is the time since the connect was started; `stalled` says that this host stalled in it.
ConnectVerdict verdictOf(const ConnectState& state, Nanos elapsed, Nanos timeout, bool stalled);

// Counts a verdict with its times. The caller counts `sent`. kNone and kUndecided count nothing.
void countConnect(PairWindow& pair, ConnectVerdict verdict, const ConnectState& state,
                  Nanos elapsed);

}  // namespace pingloom::probe::tcp
