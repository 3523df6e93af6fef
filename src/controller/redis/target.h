// Where Redis listens: the controller's own child process, a Unix socket, or a TCP port.
#pragma once

#include <cstdint>
#include <string>

namespace pingloom::controller {

struct RedisTarget {
  enum class Kind { kEmbedded, kUnix, kTcp };
  Kind kind = Kind::kEmbedded;
  std::string path;  // unix and embedded: the socket
  std::string host;  // tcp
  std::uint16_t port = 0;

  std::string text() const;  // "unix:/run/redis.sock", "tcp:10.0.0.5:6379"
};

}  // namespace pingloom::controller
