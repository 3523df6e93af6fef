// What a server of a Redis Cluster answers to a command for a slot that another one has: MOVED, or
// ASK while the slot is being moved. Pure; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/redis/target.h"

namespace pingloom::controller {

struct Redirect {
  RedisServer server;
  bool ask = false;  // for this command only; MOVED holds for good
};

// Returns nullopt if the text of an error is no redirect. `host` is that of the server that says
// it, which may leave its own out.
std::optional<Redirect> parseRedirect(std::string_view error, const std::string& host);

// One command, or all from MULTI to EXEC, which are redirected together.
struct CommandUnit {
  std::size_t first = 0;  // the number of its first command
  std::size_t count = 0;
  std::string_view bytes;
  std::string_view key;  // "" if there is none
};

// Splits what Commands has serialized.
std::vector<CommandUnit> unitsOf(std::string_view commands);

struct Redirected {
  Redirect to;
  std::string commands;
  std::size_t replies = 0;
};

}  // namespace pingloom::controller
