// Where Redis listens: the controller's own child process, a Unix socket, or a TCP port.
#pragma once

#include <cstdint>
#include <string>

namespace pingloom::controller {

struct RedisTarget {
  enum class Kind { kEmbedded, kUnix, kTcp };
  Kind kind = Kind::kEmbedded;
  std::string path;  // the socket of a Unix or embedded Redis
  std::string host;  // used with TCP
  std::uint16_t port = 0;

  std::string text() const;  // "unix:/run/redis.sock", "tcp:10.0.0.5:6379"
};

}  // namespace pingloom::controller
