// Where Redis listens: the controller's own child process, a Unix socket, a TCP port, or where
// sentinels say.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pingloom::controller {

// A host without brackets, and its TCP port.
struct RedisServer {
  std::string host;
  std::uint16_t port = 0;

  std::string text() const {
    const bool v6 = host.find(':') != std::string::npos;
    return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
  }
};

// PEM files, which are read at each connect.
struct RedisTls {
  std::filesystem::path ca;           // the certificates to trust; "": those of the system
  std::filesystem::path certificate;  // the client's; "" stands for none
  std::filesystem::path key;          // "" if and only if there is no certificate
};

struct RedisTarget {
  enum class Kind { kEmbedded, kUnix, kTcp, kSentinel };
  Kind kind = Kind::kEmbedded;
  std::string path;  // the socket of a Unix or embedded Redis
  std::string host;  // used with TCP
  std::uint16_t port = 0;
  std::string master = {};                            // the name that the sentinels know it by
  std::vector<RedisServer> sentinels = {};            // at least one with kSentinel
  std::filesystem::path sentinel_password_file = {};  // "": they want none; read at each question
  std::optional<RedisTls> tls = {};  // of the server and of sentinels; not with a socket

  // "unix:/run/redis.sock", "tcp:10.0.0.5:6379", "sentinel:mymaster"
  std::string text() const {
    if (kind == Kind::kSentinel) return "sentinel:" + master;
    if (kind != Kind::kTcp) return "unix:" + path;
    return "tcp:" + RedisServer{host, port}.text();
  }
};

}  // namespace pingloom::controller
