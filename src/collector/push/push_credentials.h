// What a push target's requests prove their sender with. Any thread.
#pragma once

#include <string>

#include "collector/push/push_config.h"
#include "common/error.h"

namespace pingloom::collector {

// Returns the value of the header Authorization (RFC 6750, RFC 7617), or "" if the target needs
// none. It reads the target's file each time, so the file can be replaced.
Result<std::string> pushAuthorization(const PushTarget& target);

}  // namespace pingloom::collector
