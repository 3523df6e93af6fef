// The agent's configuration file, config/agent.yaml. A plain value; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/pages_config.h"
#include "agent/rdma_config.h"
#include "common/address.h"
#include "common/error.h"
#include "common/log.h"
#include "http/access_config.h"
#include "net/curve_key.h"

namespace pingloom::agent {

constexpr std::uint16_t kDefaultProbePort = 20710;
constexpr std::uint64_t kMinSpoolBytes = 4ULL << 20;
constexpr std::uint64_t kMaxSpoolBytes = 64ULL << 30;

struct KeysConfig {
  std::filesystem::path secret;
  std::optional<net::CurvePair> own;      // the key pair, set by loadKeys()
  std::vector<net::CurveKey> controller;  // never empty
};

struct Config {
  std::string controller;  // "controller.example:20711", "[fd00::1]:20711"
  std::string host;        // this agent's host id; the host's name unless configured
  // if empty, the machine's global addresses, followed as they change
  std::vector<IpAddress> addresses;
  std::uint16_t port = kDefaultProbePort;
  std::filesystem::path state_dir = "/var/lib/pingloom/agent";
  std::optional<SocketAddress> http;  // for /metrics and /healthz; nullopt for no listener
  http::AccessFiles http_access;
  log::Level log_level = log::Level::kInfo;
  std::uint64_t spool_max_bytes = 256ULL << 20;
  RdmaConfig rdma;
  std::optional<KeysConfig> keys;    // nullopt stands for plaintext without authentication
  std::optional<PagesConfig> pages;  // nullopt if the agent serves no metric pages
};

// `file` names the text in messages, and relative paths in it are relative to its folder.
Result<Config> parseConfig(std::string_view text, std::string_view file);

// Reads the configured secret key unless it was read before.
Status loadKeys(Config& config);

}  // namespace pingloom::agent
