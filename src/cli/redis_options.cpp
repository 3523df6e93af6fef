#include "cli/redis_options.h"

#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "cli/site_options.h"
#include "common/file.h"

namespace pingloom::cli {
namespace po = boost::program_options;

using controller::kMaxRedisServers;
using controller::parseRedisServer;
using controller::RedisServer;
using controller::RedisTarget;

namespace {

constexpr std::string_view kDefaultRedis = "unix:/var/lib/pingloom/controller/redis.sock";
constexpr std::string_view kTargetForm =
    "write unix:/path/to/redis.sock, tcp:HOST:PORT, sentinel:MASTER@HOST:PORT,... or "
    "cluster:HOST:PORT,...";

// Returns no servers if one is malformed, or if there are too many.
std::vector<RedisServer> parseServers(std::string_view text) {
  std::vector<RedisServer> servers;
  for (;;) {
    const std::size_t comma = text.find(',');
    auto server = parseRedisServer(text.substr(0, comma));
    if (!server || servers.size() == kMaxRedisServers) return {};
    servers.push_back(std::move(*server));
    if (comma == std::string_view::npos) return servers;
    text.remove_prefix(comma + 1);
  }
}

std::string fileOf(const po::variables_map& values, const char* option) {
  return values.count(option) != 0 ? values[option].as<std::string>() : std::string();
}

// Returns the file of an option, "" if it is not given.
Result<std::string> readableFile(const po::variables_map& values, const char* option) {
  std::string file = fileOf(values, option);
  if (values.count(option) == 0 || ::access(file.c_str(), R_OK) == 0) return file;
  return wrong({file, std::string("--") + option},
               makeErrnoError(file, "cannot read", errno).value());
}

Result<std::string> passwordFile(const po::variables_map& values, const char* option) {
  std::string file = fileOf(values, option);
  if (values.count(option) == 0) return file;
  const auto password = readPassword(file);
  if (!password) return wrong({file, std::string("--") + option}, password.error());
  return file;
}

Status readTls(const po::variables_map& values, RedisTarget& target) {
  const auto ca = readableFile(values, "redis-ca");
  if (!ca) return tl::unexpected(ca.error());
  const auto certificate = readableFile(values, "redis-certificate");
  if (!certificate) return tl::unexpected(certificate.error());
  const auto key = readableFile(values, "redis-key");
  if (!key) return tl::unexpected(key.error());
  if (values.count("redis-tls") == 0 && ca->empty() && certificate->empty() && key->empty()) {
    return {};
  }
  if (certificate->empty() != key->empty()) {
    return makeError("", "--redis-certificate and --redis-key belong together");
  }
  if (target.kind == RedisTarget::Kind::kUnix) {
    return makeError("", "a Redis at a Unix socket has no TLS");
  }
  target.tls = controller::RedisTls{*ca, *certificate, *key};
  return {};
}

}  // namespace

Result<RedisTarget> parseRedisTarget(std::string_view text) {
  const auto refused = makeError("Redis address '" + std::string(text) + "'", kTargetForm);
  const auto take = [&text](std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
  };
  RedisTarget target;
  if (take("unix:")) {
    target.kind = RedisTarget::Kind::kUnix;
    target.path = text;
    if (text.size() < 2 || text[0] != '/') return refused;
    return target;
  }
  if (take("tcp:")) {
    auto server = parseRedisServer(text);
    return server ? target.at(*server) : Result<RedisTarget>(refused);
  }
  if (take("sentinel:")) {
    target.kind = RedisTarget::Kind::kSentinel;
    const std::size_t at = text.find('@');
    if (at == std::string_view::npos || at == 0) return refused;
    target.master = text.substr(0, at);
    text.remove_prefix(at + 1);
  } else if (take("cluster:")) {
    target.kind = RedisTarget::Kind::kCluster;
  } else {
    return refused;
  }
  target.servers = parseServers(text);
  if (target.servers.empty()) return refused;
  return target;
}

void addRedisOptions(po::options_description& options) {
  auto text = [] { return po::value<std::string>(); };
  auto file = [] { return po::value<std::string>()->value_name("FILE"); };
  options.add_options()("redis", text(),
                        "unix:/path, tcp:HOST:PORT, sentinel:MASTER@HOST:PORT,... or "
                        "cluster:HOST:PORT,... (default: $PINGLOOM_REDIS, else "
                        "unix:/var/lib/pingloom/controller/redis.sock, which root may read)")(
      "redis-user", text()->default_value("", ""), "user of a Redis with ACLs")(
      "redis-password-file", file(), "file with the password for Redis")(
      "redis-sentinel-password-file", file(), "file with the password for the sentinels")(
      "redis-tls", "encrypt the connections to Redis and to sentinels; so do the next three")(
      "redis-ca", file(), "trust these certificates (default: the system's)")(
      "redis-certificate", file(), "show this certificate, with the key of --redis-key")(
      "redis-key", file(), "the key of --redis-certificate");
}

Result<RedisAccess> redisAccessOf(const po::variables_map& values) {
  const Setting address = settingOf(values, "redis", "PINGLOOM_REDIS");
  auto target = parseRedisTarget(address.source.empty() ? kDefaultRedis : address.value);
  if (!target) return wrong(address, target.error());
  RedisAccess access{std::move(*target), {values["redis-user"].as<std::string>(), ""}};
  if (auto status = readTls(values, access.target); !status) return tl::unexpected(status.error());
  const auto password = passwordFile(values, "redis-password-file");
  if (!password) return tl::unexpected(password.error());
  access.login.password_file = *password;
  const auto sentinel = passwordFile(values, "redis-sentinel-password-file");
  if (!sentinel) return tl::unexpected(sentinel.error());
  if (!sentinel->empty() && access.target.kind != RedisTarget::Kind::kSentinel) {
    return makeError("", "--redis-sentinel-password-file needs --redis sentinel:MASTER@HOST:PORT");
  }
  access.target.sentinel_password_file = *sentinel;
  return access;
}

}  // namespace pingloom::cli
