// The new host's side of joining (docs/keys.md): asks a controller to authorise a key. Blocking;
// any thread.
#pragma once

#include <string>

#include "common/error.h"
#include "common/time.h"
#include "keys/join_rules.h"
#include "keys/join_token.h"

namespace pingloom::keys {

// Asks until `timeout` has passed; while the controller is busy, it asks again. `controller` is
// HOST:PORT. An error means that there was no answer, and says what to do.
Result<JoinDecision> askToJoin(const std::string& controller, const JoinToken& token,
                               const JoinRequest& request, Nanos timeout);

// Tells whether the controller lets in `own`. An error means that it cannot be reached.
Result<bool> letsIn(const std::string& controller, const net::CurveKey& server,
                    const net::CurvePair& own, Nanos timeout);

}  // namespace pingloom::keys
