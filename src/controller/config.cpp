#include "controller/config.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "common/config_reader.h"
#include "common/host_port.h"
#include "common/machine_name.h"
#include "common/text.h"
#include "controller/alerts/target_config.h"
#include "controller/redis_config.h"
#include "http/static_files.h"
#include "keys/authorized_file.h"
#include "keys/key_config.h"
#include "wire/control_protocol.h"

namespace pingloom::controller {
namespace {

constexpr Nanos kMinRetention = kMinute;
constexpr std::uint64_t kMinHistory = 16ULL << 20;
constexpr std::size_t kMaxAncestors = 16;
constexpr std::size_t kMaxOrigin = 253;
constexpr std::size_t kMaxServers = 16;
constexpr std::size_t kMaxPostgresName = 63;
constexpr std::size_t kMaxClusterName = 63;

// An IPv6 address stands in brackets before a port.
std::string_view withoutBrackets(std::string_view host) {
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  return bracketed ? host.substr(1, host.size() - 2) : host;
}

Status readControllerKeys(const yaml::Node& node, Config& config) {
  if (auto status = node.onlyKeys({"secret", "authorized", "plaintext"}); !status) return status;
  KeysConfig& made = config.keys.emplace();
  if (auto status = keys::readSecretPath(node, made.secret); !status) return status;
  const auto authorized = node.find("authorized");
  if (!authorized) return node.error("'authorized' is missing: the list of authorised keys");
  if (auto status = readValue(*authorized, made.authorized); !status) return status;
  const auto plaintext = node.find("plaintext");
  return plaintext ? readValue(*plaintext, made.plaintext) : Status();
}

// An origin as it stands in Content-Security-Policy: nothing in it can end the directive.
bool isOrigin(std::string_view text) {
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (!text.starts_with(scheme)) continue;
    text.remove_prefix(scheme.size());
    return !text.empty() && text.size() <= kMaxOrigin &&
           text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-:[]*") == text.npos;
  }
  return false;
}

Status readFrameAncestors(const yaml::Node& node, Config& config) {
  if (!node.isSequence()) return node.error("is no list; write [https://HOST]");
  const auto items = node.items();
  if (items.size() > kMaxAncestors) {
    return node.error(fmt::format("has more than {} origins", kMaxAncestors));
  }
  for (const yaml::Node& item : items) {
    auto text = item.text();
    if (!text) return tl::unexpected(text.error());
    if (!isOrigin(*text)) {
      return item.error("'" + *text +
                        "' is no origin; write 'https://HOST' or 'https://HOST:PORT'");
    }
    config.frame_ancestors.push_back(std::move(*text));
  }
  return {};
}

constexpr std::uint64_t kMaxLimit = std::numeric_limits<std::int64_t>::max();
constexpr auto kLimitKeys = std::to_array<ConfigKey<pinglist::Limits>>({
    {"pings_per_second_per_host",
     [](const yaml::Node& node, pinglist::Limits& limits) {
       return readNumber(node, 1, kMaxLimit, limits.max_pings_per_second_per_host);
     }},
    {"rows_per_second",
     [](const yaml::Node& node, pinglist::Limits& limits) {
       return readNumber(node, 1, kMaxLimit, limits.max_rows_per_second);
     }},
    {"history_bytes_per_day",
     [](const yaml::Node& node, pinglist::Limits& limits) {
       return readSize(node, 0, kMaxSize, limits.max_history_bytes_per_day);
     }},
});

// HOST, HOST:PORT, [ADDRESS]:PORT or the folder of a Unix socket.
Result<PostgresServer> readServer(const yaml::Node& node) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  PostgresServer server;
  std::string_view host = *text;
  const auto colon = host.rfind(':');
  const bool bare_v6 = colon != host.find(':') && !host.starts_with('[');
  if (colon != host.npos && !bare_v6 && host.back() != ']') {
    const auto port = parseUnsigned(host.substr(colon + 1), 65535);
    if (!port || *port == 0) return node.error("write HOST or HOST:PORT");
    server.port = static_cast<std::uint16_t>(*port);
    host = host.substr(0, colon);
  }
  host = withoutBrackets(host);
  // libpq separates hosts by commas.
  if (host.empty() || host.find(',') != host.npos) return node.error("write HOST or HOST:PORT");
  server.host = host;
  return server;
}

Status readServers(const yaml::Node& node, PostgresPlace& place) {
  const auto items = node.items();
  if (!node.isSequence() || items.empty()) return node.error("write a list: [HOST:PORT, ...]");
  if (items.size() > kMaxServers) {
    return node.error(fmt::format("has more than {} servers", kMaxServers));
  }
  for (const yaml::Node& item : items) {
    auto server = readServer(item);
    if (!server) return tl::unexpected(server.error());
    place.servers.push_back(std::move(*server));
  }
  return {};
}

constexpr auto kPostgresKeys = std::to_array<ConfigKey<PostgresPlace>>({
    {"hosts", readServers},
    {"database",
     [](const yaml::Node& node, PostgresPlace& place) {
       return readText(node, kMaxPostgresName, place.database);
     }},
    {"user", [](const yaml::Node& node,
                PostgresPlace& place) { return readText(node, kMaxPostgresName, place.user); }},
    {"password_file", readField<&PostgresPlace::password_file>},
    {"tls", readField<&PostgresPlace::ca_file>},
});

Status readPostgres(const yaml::Node& node, Config& config) {
  PostgresPlace& place = config.history_postgres.emplace();
  if (auto status = readMap(node, kPostgresKeys, place); !status) return status;
  if (place.servers.empty()) return node.error("'hosts' is missing; write 'hosts: [HOST:PORT]'");
  return {};
}

Status readClusterName(const yaml::Node& node, ClusterConfig& cluster) {
  if (auto status = readText(node, kMaxClusterName, cluster.name); !status) return status;
  return isOneWord(cluster.name) ? Status() : node.error("has blanks; write one word");
}

Status readClusterAddress(const yaml::Node& node, ClusterConfig& cluster) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto parsed = parseHostPort(*text, wire::kDefaultControlPort);
  if (!parsed || *parsed != *text || isUnspecified(*text)) {
    return node.error("write HOST:PORT, where agents reach this controller");
  }
  cluster.address = std::move(*text);
  return {};
}

constexpr auto kClusterKeys = std::to_array<ConfigKey<ClusterConfig>>({
    {"name", readClusterName},
    {"address", readClusterAddress},
});

Status readCluster(const yaml::Node& node, Config& config) {
  ClusterConfig& cluster = config.cluster.emplace();
  return readMap(node, kClusterKeys, cluster);
}

// A controller is called like its machine unless it is told otherwise.
Status finishCluster(const yaml::Node& node, ClusterConfig& cluster, std::uint16_t port) {
  const std::string machine = machineName();
  if (cluster.name.empty()) cluster.name = machine.substr(0, machine.find('.'));
  if (cluster.name.empty()) return node.error("'name' is missing; write 'name: NAME'");
  if (!cluster.address.empty()) return {};
  const auto address = parseHostPort(machine, port);
  if (!address) return node.error("'address' is missing; write 'address: HOST:PORT'");
  cluster.address = *address;
  return {};
}

constexpr auto kCollectorKeys = std::to_array<ConfigKey<CollectorAccess>>({
    {"token", readField<&CollectorAccess::token>},
    {"ca", readField<&CollectorAccess::ca>},
});

constexpr auto kHistoryKeys = std::to_array<ConfigKey<Config>>({
    {"postgres", readPostgres},
    {"retention",
     [](const yaml::Node& node, Config& config) {
       return readDuration(node, kMinRetention, kMaxDuration, config.history_retention);
     }},
    {"max_size",
     [](const yaml::Node& node, Config& config) {
       return readSize(node, kMinHistory, kMaxSize, config.history_max_bytes);
     }},
});

constexpr auto kKeys = std::to_array<ConfigKey<Config>>({
    {"pinglist", readField<&Config::pinglist>},
    {"control", readField<&Config::control>},
    {"http", readField<&Config::http>},
    {"http_access", readField<&Config::http_access>},
    {"frame_ancestors", readFrameAncestors},
    {"web_root", readField<&Config::web_root>},
    {"state_dir", readField<&Config::state_dir>},
    {"redis", readRedis},
    {"redis_socket", readRedisSocket},
    {"redis_user", readRedisUser},
    {"redis_password_file", readRedisPasswordFile},
    {"redis_tls", readRedisTls},
    {"keys", readControllerKeys},
    {"insecure", readField<&Config::insecure>},
    {"limits", [](const yaml::Node& node,
                  Config& config) { return readMap(node, kLimitKeys, config.limits); }},
    {"history",
     [](const yaml::Node& node, Config& config) { return readMap(node, kHistoryKeys, config); }},
    {"cluster", readCluster},
    {"collectors", [](const yaml::Node& node,
                      Config& config) { return readMap(node, kCollectorKeys, config.collectors); }},
    {"log_level",
     [](const yaml::Node& node, Config& config) { return readLogLevel(node, config.log_levels); }},
    {"log", readField<&Config::log_levels>},
    {"url_file", readField<&Config::url_file>},
    {"alerts",
     [](const yaml::Node& node, Config& config) { return readAlertTargets(node, config.alerts); }},
});

Status complete(const yaml::Node& root, Config& config) {
  if (config.pinglist.empty()) return root.error("'pinglist' is missing; write 'pinglist: FILE'");
  if (config.state_dir.empty()) {
    return root.error("'state_dir' is missing; write 'state_dir: FOLDER', where history is kept");
  }
  if (config.web_root.empty()) config.web_root = http::findWebRoot("web");
  if (config.redis.kind == RedisTarget::Kind::kEmbedded && config.redis.path.empty()) {
    config.redis.path = (config.state_dir / "redis.sock").native();
    if (config.redis.path.size() > kMaxSocketPath) {
      return root.error(
          "the path of Redis' socket is too long; set 'redis_socket' to a shorter one");
    }
  }
  if (config.cluster && !config.history_postgres) {
    return root.find("cluster")->error("needs 'history: { postgres: ... }', which they share");
  }
  if (config.cluster) {
    auto status = finishCluster(*root.find("cluster"), *config.cluster, config.control.port);
    if (!status) return status;
  }
  if (config.keys && config.keys->plaintext &&
      config.keys->plaintext->port == config.control.port) {
    return root.find("keys")->error("'plaintext' needs another port than 'control'");
  }
  if (!config.redis_user.empty() && config.redis_password_file.empty()) {
    return root.find("redis_user")->error("needs 'redis_password_file'");
  }
  return {};
}

}  // namespace

Status loadKeys(Config& config) {
  if (!config.keys && exposedAt(config) && !config.insecure) {
    return makeError(
        "control " + config.control.text(),
        "without 'keys' anybody who reaches this address could register as any host and "
        "forge its results; run `pingloom keys prepare` and add the line that it "
        "prints (docs/keys.md), or write 'control: 127.0.0.1:20711', or, if you trust "
        "everybody on the network, 'insecure: true'");
  }
  if (!config.keys || config.keys->own) return {};
  if (auto own = keys::loadOwn(config.keys->secret, config.keys->own); !own) return own;
  const auto authorized = keys::loadAuthorizedKeys(config.keys->authorized);
  return authorized ? Status() : tl::unexpected(authorized.error());
}

Result<Config> parseConfig(std::string_view text, std::string_view file) {
  const auto root = yaml::parse(text, file);
  if (!root) return tl::unexpected(root.error());
  if (root->isNull()) return makeError(file, "is empty; it needs 'pinglist' and 'state_dir'");
  Config config;
  if (auto status = readMap(*root, kKeys, config); !status) return tl::unexpected(status.error());
  if (auto status = complete(*root, config); !status) return tl::unexpected(status.error());
  return config;
}

}  // namespace pingloom::controller
