// Asks a Redis Cluster one command at a time, and waits for each reply. It asks whichever master
// has the command's key, and follows redirects. After an error it begins again with the servers of
// the target. One thread; every call takes a few RedisConnection::kTimeout at most.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "controller/redis/nodes.h"
#include "controller/redis/slot_table.h"

namespace pingloom::controller {

class RedisClusterClient {
 public:
  // REQUIRES: the target names a cluster.
  RedisClusterClient(RedisTarget target, RedisLogin login)
      : target_(std::move(target)), nodes_(target_, std::move(login)) {}

  // Finds out which master has what, unless it is known.
  Status connect();
  // Returns the reply to the serialized command; it is no error.
  Result<RedisConnection::Reply> ask(std::string_view key, std::string_view command);
  // Executes SMEMBERS.
  Result<std::vector<std::string>> members(std::string_view key);
  // Executes the commands, whose replies are not needed, and clears them. REQUIRES: no MULTI.
  Status run(Commands& commands);

 private:
  Result<RedisConnection::Reply> askOnce(std::string_view key, std::string_view command);
  Result<RedisConnection*> masterOf(std::string_view key);

  const RedisTarget target_;
  RedisNodes nodes_;
  SlotTable table_;  // empty if it is not known
};

}  // namespace pingloom::controller
