// The controller's configuration file; config/controller.yaml explains every key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/log.h"
#include "common/time.h"
#include "controller/alerts/target.h"
#include "controller/collectors/collector_link.h"
#include "controller/history/sql/place.h"
#include "controller/redis/target.h"
#include "http/access_config.h"
#include "net/curve_key.h"
#include "pinglist/cost.h"
#include "wire/control_protocol.h"

namespace pingloom::controller {

struct KeysConfig {
  std::filesystem::path secret;
  std::filesystem::path authorized;        // authorized_keys.yaml
  std::optional<net::CurvePair> own;       // the key pair in `secret`, set by loadKeys()
  std::optional<SocketAddress> plaintext;  // where agents may connect that have no key yet
};

// Several controllers share the history in PostgreSQL (cluster/cluster.h).
struct ClusterConfig {
  std::string name;     // unique among them
  std::string address;  // HOST:PORT at which agents reach this one
};

struct Config {
  std::filesystem::path pinglist;
  SocketAddress control{IpAddress::fromV4(0), wire::kDefaultControlPort};
  SocketAddress http{IpAddress::fromV4(0x7f000001), 8080};
  http::AccessFiles http_access;
  // Origins whose pages may show the dashboard in a frame, as in Content-Security-Policy.
  std::vector<std::string> frame_ancestors;
  std::filesystem::path web_root;  // empty if it is not built; then there is only the API
  std::filesystem::path state_dir;
  RedisTarget redis;
  std::string redis_user;
  std::filesystem::path redis_password_file;
  std::optional<KeysConfig> keys;  // nullopt stands for plaintext without authentication
  bool insecure = false;           // whether it may do without keys beyond loopback
  pinglist::Limits limits;
  std::optional<PostgresPlace> history_postgres;  // nullopt: a file in state_dir
  std::optional<ClusterConfig> cluster;           // nullopt: this controller works alone
  Nanos history_retention = 7 * 24 * kHour;
  std::uint64_t history_max_bytes = 4ULL << 30;
  log::Levels log_levels;
  std::filesystem::path url_file;
  std::vector<AlertTarget> alerts;
  CollectorAccess collectors;
};

// Returns where the ledger is kept, which holds history and marks.
inline HistoryPlace historyPlace(const Config& config) {
  if (config.history_postgres) return *config.history_postgres;
  return config.state_dir / "history.sqlite";
}

// Returns the address at which anybody who reaches it can register as any agent that has no key;
// nullopt if there is none beyond loopback.
inline std::optional<SocketAddress> exposedAt(const Config& config) {
  const auto at = config.keys ? config.keys->plaintext : std::optional(config.control);
  return at && !at->address.isLoopback() ? at : std::nullopt;
}

// Reads the secret key unless it was read before, and checks the list of authorised keys. Returns
// an error without keys beyond loopback, unless the configuration says that this is meant.
Status loadKeys(Config& config);

// Relative paths are relative to the file's folder. The error's entity is file:line:column.
Result<Config> parseConfig(std::string_view text, std::string_view file);

}  // namespace pingloom::controller
