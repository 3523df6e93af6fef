// Sends commands that a server of a Redis Cluster has redirected to the server that it named. One
// thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "controller/redis/connection.h"
#include "controller/redis/redirects.h"
#include "controller/redis/target.h"

namespace pingloom::controller {

// Connections to servers of a cluster, made when they are needed.
//
class RedisNodes {
 public:
  static constexpr std::size_t kMaxConnections = 64;

  // `target` says how servers are reached: with or without TLS.
  RedisNodes(RedisTarget target, RedisLogin login)
      : target_(std::move(target)), login_(std::move(login)) {}

  // The connection keeps redirects. It is valid until the next call.
  Result<RedisConnection*> to(const RedisServer& server);
  void clear() { connections_.clear(); }

 private:
  const RedisTarget target_;
  const RedisLogin login_;
  std::map<std::string, std::unique_ptr<RedisConnection>> connections_;
};

// Sends each to the server that it is redirected to, in this order, until none is redirected again.
Status follow(RedisNodes& nodes, std::vector<Redirected> redirected);

}  // namespace pingloom::controller
