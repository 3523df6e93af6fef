#include "controller/redis_config.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "common/config_reader.h"
#include "common/text.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxMasterName = 255;

Status readTcpTarget(const yaml::Node& node, std::string_view target, RedisTarget& out) {
  auto server = parseRedisServer(target);
  if (!server) return node.error("write tcp:HOST:PORT");
  out = out.at(*server);
  return {};
}

Status readRedisServers(const yaml::Node& node, RedisTarget& target) {
  if (!node.isSequence() || node.items().empty()) {
    return node.error("write a list: [HOST:PORT, ...]");
  }
  if (node.items().size() > kMaxRedisServers) {
    return node.error(fmt::format("has more than {} servers", kMaxRedisServers));
  }
  for (const yaml::Node& item : node.items()) {
    const auto text = item.text();
    if (!text) return tl::unexpected(text.error());
    auto server = parseRedisServer(*text);
    if (!server) return item.error("write HOST:PORT");
    target.servers.push_back(std::move(*server));
  }
  return {};
}

constexpr auto kSentinelKeys = std::to_array<ConfigKey<RedisTarget>>({
    {"master", [](const yaml::Node& node,
                  RedisTarget& target) { return readText(node, kMaxMasterName, target.master); }},
    {"hosts", readRedisServers},
    {"password_file", readField<&RedisTarget::sentinel_password_file>},
});

Status readSentinel(const yaml::Node& node, RedisTarget& target) {
  target.kind = RedisTarget::Kind::kSentinel;
  if (auto status = readMap(node, kSentinelKeys, target); !status) return status;
  if (target.master.empty()) return node.error("'master' is missing; write 'master: NAME'");
  if (target.servers.empty()) {
    return node.error("'hosts' is missing; write 'hosts: [HOST:PORT, ...]'");
  }
  return {};
}

Status readRedisCluster(const yaml::Node& node, RedisTarget& target) {
  target.kind = RedisTarget::Kind::kCluster;
  return readRedisServers(node, target);
}

constexpr auto kRedisKeys = std::to_array<ConfigKey<RedisTarget>>({
    {"sentinel", readSentinel},
    {"cluster", readRedisCluster},
});

Status readRedisMap(const yaml::Node& node, RedisTarget& target) {
  const bool sentinel = node.find("sentinel").has_value();
  const bool cluster = node.find("cluster").has_value();
  if (sentinel && cluster) {
    return node.error("'sentinel' and 'cluster' exclude each other: a cluster promotes by itself");
  }
  if (auto status = readMap(node, kRedisKeys, target); !status) return status;
  return sentinel || cluster ? Status() : node.error("'sentinel' or 'cluster' is missing");
}

bool embedded(const Config& config) { return config.redis.kind == RedisTarget::Kind::kEmbedded; }

constexpr auto kRedisTlsKeys = std::to_array<ConfigKey<RedisTls>>({
    {"ca", readField<&RedisTls::ca>},
    {"certificate", readField<&RedisTls::certificate>},
    {"key", readField<&RedisTls::key>},
});

}  // namespace

Status readRedis(const yaml::Node& node, Config& config) {
  if (node.isMap()) return readRedisMap(node, config.redis);
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  RedisTarget& target = config.redis;
  if (*text == "embedded") return {};
  if (text->starts_with("tcp:")) return readTcpTarget(node, text->substr(4), target);
  if (text->starts_with("unix:") && text->size() > 5) {
    target.kind = RedisTarget::Kind::kUnix;
    target.path = resolvePath(node, text->substr(5));
    if (target.path.size() > kMaxSocketPath) return node.error("the socket's path is too long");
    return {};
  }
  return node.error("'" + *text +
                    "' is none of embedded, unix:/PATH, tcp:HOST:PORT, "
                    "{ sentinel: ... }, { cluster: [HOST:PORT, ...] }" +
                    didYouMean(*text, {"embedded"}));
}

Status readRedisSocket(const yaml::Node& node, Config& config) {
  std::filesystem::path path;
  if (auto status = readValue(node, path); !status) return status;
  if (path.native().size() > kMaxSocketPath) return node.error("is too long for a Unix socket");
  if (!embedded(config)) return node.error("is where an embedded Redis listens; leave it out");
  config.redis.path = path.native();
  return {};
}

Status readRedisUser(const yaml::Node& node, Config& config) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (embedded(config)) return node.error("an embedded Redis has no users; leave this out");
  config.redis_user = std::move(*text);
  return {};
}

Status readRedisPasswordFile(const yaml::Node& node, Config& config) {
  if (embedded(config)) return node.error("an embedded Redis has no users; leave this out");
  return readValue(node, config.redis_password_file);
}

Status readRedisTls(const yaml::Node& node, Config& config) {
  if (embedded(config) || config.redis.kind == RedisTarget::Kind::kUnix) {
    return node.error("a Redis at a Unix socket has no TLS; leave this out");
  }
  RedisTls& tls = config.redis.tls.emplace();
  if (auto status = readMap(node, kRedisTlsKeys, tls); !status) return status;
  if (tls.certificate.empty() == tls.key.empty()) return {};
  return node.error("'certificate' and 'key' belong together");
}

}  // namespace pingloom::controller
