// Opens the socket through which a command asks another host.
#pragma once

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"

namespace pingloom::cli {

// The socket is non-blocking and bound to this host's address `source`; `type` is SOCK_STREAM or
// SOCK_DGRAM.
Result<UniqueFd> socketFrom(const IpAddress& source, int type);

}  // namespace pingloom::cli
