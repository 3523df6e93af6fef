// Where Redis listens: the controller's own child process, a Unix socket, a TCP port, where
// sentinels say, or the servers of a cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pingloom::controller {

// A host without brackets, and its TCP port.
struct RedisServer {
  std::string host;
  std::uint16_t port = 0;

  bool operator==(const RedisServer&) const = default;
  std::string text() const {
    const bool v6 = host.find(':') != std::string::npos;
    return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
  }
};

// Parses HOST:PORT; an IPv6 address stands in brackets. Returns nullopt if it is neither.
std::optional<RedisServer> parseRedisServer(std::string_view text);

struct RedisLogin {
  std::string user;                     // "" stands for the default user
  std::filesystem::path password_file;  // "" stands for no authentication; read at each connect
};

// PEM files, which are read at each connect.
struct RedisTls {
  std::filesystem::path ca;           // the certificates to trust; "": those of the system
  std::filesystem::path certificate;  // the client's; "" stands for none
  std::filesystem::path key;          // "" if and only if there is no certificate
};

constexpr std::size_t kMaxRedisServers = 16;  // that are named

struct RedisTarget {
  enum class Kind { kEmbedded, kUnix, kTcp, kSentinel, kCluster };
  Kind kind = Kind::kEmbedded;
  std::string path;  // the socket of a Unix or embedded Redis
  std::string host;  // used with TCP
  std::uint16_t port = 0;
  std::string master = {};  // the name that the sentinels know it by
  // The sentinels, or some servers of the cluster; at least one.
  std::vector<RedisServer> servers = {};
  std::filesystem::path sentinel_password_file = {};  // "": they want none; read at each question
  std::optional<RedisTls> tls = {};                   // of all these servers; not with a socket

  // One of the servers, over TCP. What else there is to know about all of them stays.
  RedisTarget at(const RedisServer& server) const {
    RedisTarget one = *this;
    one.kind = Kind::kTcp;
    one.host = server.host;
    one.port = server.port;
    return one;
  }
  // "unix:/run/redis.sock", "tcp:10.0.0.5:6379", "sentinel:mymaster", "cluster:10.0.0.5:6379"
  std::string text() const {
    if (kind == Kind::kSentinel) return "sentinel:" + master;
    if (kind == Kind::kCluster) return "cluster:" + servers.front().text();
    if (kind != Kind::kTcp) return "unix:" + path;
    return "tcp:" + RedisServer{host, port}.text();
  }
};

}  // namespace pingloom::controller
