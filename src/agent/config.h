// The agent's configuration file, config/agent.yaml. A plain value; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/events.h"
#include "agent/pages_config.h"
#include "agent/rdma_config.h"
#include "agent/results_log.h"
#include "common/address.h"
#include "common/error.h"
#include "common/log.h"
#include "http/access_config.h"
#include "net/curve_key.h"
#include "translator/config.h"

namespace pingloom::agent {

constexpr std::uint16_t kDefaultProbePort = 20710;
constexpr std::uint16_t kDefaultHttpPort = 20712;
constexpr std::uint64_t kMinSpoolBytes = 4ULL << 20;
constexpr std::uint64_t kMaxSpoolBytes = 64ULL << 30;

struct KeysConfig {
  std::filesystem::path secret;
  std::optional<net::CurvePair> own;  // the key pair, set by loadKeys()
  // Empty only before the host has joined.
  std::vector<net::CurveKey> controller;
  // The file with a join token, with which the agent makes its key; may be empty.
  std::filesystem::path join;
};

struct Config {
  // "controller.example:20711", "[fd00::1]:20711"; one, or several that share a history
  std::vector<std::string> controllers;
  std::string host;  // this agent's host id; the host's name unless configured
  // if empty, the machine's global addresses, followed as they change
  std::vector<IpAddress> addresses;
  std::uint16_t port = kDefaultProbePort;
  std::filesystem::path state_dir = "/var/lib/pingloom/agent";
  std::optional<SocketAddress> http;  // for /metrics and /healthz; nullopt for no listener
  // Nobody asked for it: a port that is taken is a warning, because several agents may be here.
  bool http_by_default = false;
  http::AccessFiles http_access;
  log::Levels log_levels;
  std::uint64_t spool_max_bytes = 256ULL << 20;
  RdmaConfig rdma;
  std::optional<ResultsLogConfig> results_log;   // nullopt for none
  std::optional<EventsConfig> events;            // nullopt if none are reported
  std::optional<translator::Config> translator;  // nullopt if the agent is no translator
  std::optional<KeysConfig> keys;    // nullopt stands for plaintext without authentication
  std::optional<PagesConfig> pages;  // nullopt if the agent serves no metric pages
};

constexpr std::size_t kMaxControllers = 16;

// Converts HOST, HOST:PORT or [IPV6]:PORT to HOST:PORT.
Result<std::string> parseController(std::string_view text);

// `file` names the text in messages, and relative paths in it are relative to its folder.
Result<Config> parseConfig(std::string_view text, std::string_view file);

// Tells whether the controller is told of metric pages at this address. Pages on loopback are for
// collectors on the same host, and every host may have some, so only controllers that are reached
// by loopback are told of them.
bool announcesPages(const Config& config, const IpAddress& pages);

// The file beside the secret key that keeps the controller's public key of a host that has joined.
std::filesystem::path controllerKeyFile(const KeysConfig& keys);

// Reads the configured secret key unless it was read before.
Status loadKeys(Config& config);

}  // namespace pingloom::agent
