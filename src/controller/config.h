// The controller's configuration file; config/controller.yaml explains every key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/address.h"
#include "common/error.h"
#include "common/log.h"
#include "common/time.h"
#include "controller/redis/target.h"
#include "http/access_config.h"
#include "net/curve_key.h"
#include "pinglist/cost.h"
#include "wire/control_protocol.h"

namespace pingloom::controller {

struct KeysConfig {
  std::filesystem::path secret;
  std::filesystem::path authorized;   // authorized_keys.yaml
  std::optional<net::CurvePair> own;  // what is in `secret`, once loadKeys() was called
};

struct Config {
  std::filesystem::path pinglist;
  SocketAddress control{IpAddress::fromV4(0), wire::kDefaultControlPort};
  SocketAddress http{IpAddress::fromV4(0x7f000001), 8080};
  http::AccessFiles http_access;
  std::filesystem::path web_root;  // empty: not built, there is the API only
  std::filesystem::path state_dir;
  RedisTarget redis;
  std::string redis_user;
  std::filesystem::path redis_password_file;
  std::optional<KeysConfig> keys;  // none: plaintext, with anybody
  pinglist::Limits limits;
  Nanos history_retention = 7 * 24 * kHour;
  std::uint64_t history_max_bytes = 4ULL << 30;
  log::Level log_level = log::Level::kInfo;
  std::filesystem::path url_file;
};

// History and marks.
inline std::filesystem::path ledgerFile(const Config& config) {
  return config.state_dir / "history.sqlite";
}

// Reads the secret key, unless that was done, and sees that the list of authorised keys is valid.
Status loadKeys(Config& config);

// Relative paths are relative to the file's folder. The error's entity is file:line:column.
Result<Config> parseConfig(std::string_view text, std::string_view file);

}  // namespace pingloom::controller
