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

  // "unix:/run/redis.sock", "tcp:10.0.0.5:6379"
  std::string text() const {
    if (kind != Kind::kTcp) return "unix:" + path;
    const bool v6 = host.find(':') != std::string::npos;
    return "tcp:" + (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
  }
};

}  // namespace pingloom::controller
