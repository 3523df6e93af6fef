// What an agent says about itself when it joins (docs/keys.md). Any thread.
#pragma once

#include "agent/config.h"
#include "keys/join_rules.h"

namespace pingloom::agent {

// The request for `key`: the host and all addresses that an agent with this configuration
// registers.
keys::JoinRequest joinRequestOf(const Config& config, const net::CurveKey& key);

// With `keys: { join: FILE }`: makes this host's key and asks the controller to authorise it, until
// it does or says that somebody has to approve it. Blocks, and logs what it waits for. Once this
// has succeeded, it does nothing at later starts. It returns an error if the token or a file is
// bad.
Status joinOnce(Config& config);

}  // namespace pingloom::agent
