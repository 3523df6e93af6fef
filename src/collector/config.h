// The collector's configuration file; config/collector.yaml explains every key. A plain value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/agent_session.h"
#include "collector/push/push_config.h"
#include "collector/stores/store_config.h"
#include "collector/watch/settings.h"
#include "common/address.h"
#include "common/error.h"
#include "common/log.h"
#include "http/access_config.h"
#include "net/curve_key.h"
#include "rdma/open_device.h"
#include "store/store_messages.h"

namespace pingloom::collector {

constexpr std::uint16_t kDefaultHttpPort = 20715;
constexpr std::size_t kMaxReaders = 64;  // of all addresses together
constexpr std::size_t kMaxAgents = 10'000;
constexpr std::size_t kMaxControllers = 16;

struct KeysConfig {
  std::filesystem::path secret;
  std::optional<net::CurvePair> own;  // the key pair, set by loadKeys()
};

struct Config {
  std::string name;                  // this collector's name for people; the host's name unless set
  std::vector<IpAddress> addresses;  // the addresses whose RDMA devices read
  rdma::DeviceOptions device;
  std::uint32_t readers = 1;  // threads for each address, each with its own queue pairs
  SocketAddress http{IpAddress::fromV4(0x7f000001), kDefaultHttpPort};
  std::optional<KeysConfig> keys;  // nullopt stands for plaintext
  http::AccessFiles http_access;
  std::vector<std::string> controllers;    // base URLs; none if only the listed agents are read
  std::filesystem::path controller_token;  // file with the controllers' token; may be empty
  std::filesystem::path controller_ca;     // trusted certificates; by default the system's
  std::string advertise;                   // this collector's URL for the controller; "": `http`
  std::vector<AgentSpec> agents;           // the listed agents
  Nanos interval = 100 * kMillisecond;
  std::filesystem::path state_dir;  // keeps what analytics have learned; empty: nothing is kept
  std::optional<WatchSettings> analytics;  // nullopt if pages are not watched
  PushSettings push;
  StoreSpecs stores;                                     // empty if no translator may write
  std::uint16_t stores_port = store::kDefaultStorePort;  // at the first address
  std::filesystem::path url_file;  // written when the collector listens; may be empty
  log::Levels log_levels;
};

// Reads the configured secret key unless it was read before.
Status loadKeys(Config& config);

// Relative paths are relative to the file's folder. The error's entity is file:line:column.
Result<Config> parseConfig(std::string_view text, std::string_view file);

}  // namespace pingloom::collector
