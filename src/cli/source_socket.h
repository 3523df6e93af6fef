// A socket that a command asks another host through.
#pragma once

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"

namespace pingloom::cli {

// Non-blocking, bound to this host's address `source`; `type`: SOCK_STREAM or SOCK_DGRAM.
Result<UniqueFd> socketFrom(const IpAddress& source, int type);

}  // namespace pingloom::cli
