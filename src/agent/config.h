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
  std::optional<net::CurvePair> own;      // what is in it, once loadKeys() was called
  std::vector<net::CurveKey> controller;  // never none
};

struct Config {
  std::string controller;            // "controller.example:20711", "[fd00::1]:20711"
  std::string host;                  // this agent's id; the host's name unless configured
  std::vector<IpAddress> addresses;  // empty: the machine's global ones, followed as they change
  std::uint16_t port = kDefaultProbePort;
  std::filesystem::path state_dir = "/var/lib/pingloom/agent";
  std::optional<SocketAddress> http;  // /metrics and /healthz; none: no listener
  http::AccessFiles http_access;
  log::Level log_level = log::Level::kInfo;
  std::uint64_t spool_max_bytes = 256ULL << 20;
  RdmaConfig rdma;
  std::optional<KeysConfig> keys;    // none: plaintext, with anybody
  std::optional<PagesConfig> pages;  // none: the agent serves no metric pages
};

// `file` names the text in messages, and relative paths in it are relative to its folder.
Result<Config> parseConfig(std::string_view text, std::string_view file);

// Reads the secret key that the configuration names, unless that was done.
Status loadKeys(Config& config);

}  // namespace pingloom::agent
