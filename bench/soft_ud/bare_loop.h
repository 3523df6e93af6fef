// The physical limit: a loop that only moves the three packets of each exchange between two
// sockets, of the size that RoCE makes them, with the options and timestamps of a soft device's
// sockets, and looks at nothing. One thread.
#pragma once

#include "common/error.h"
#include "exchange_result.h"

namespace pingloom::bench {

// With `raw`, what arrives is read from raw sockets, as a soft device with CAP_NET_RAW does.
Result<ExchangeResult> runBareLoop(const ExchangeTask& task, bool raw);

}  // namespace pingloom::bench
