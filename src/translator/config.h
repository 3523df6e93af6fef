// The translator's configuration file; config/translator.yaml explains every key. A plain value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/address.h"
#include "common/error.h"
#include "common/log.h"
#include "common/yaml.h"
#include "http/access_config.h"
#include "net/curve_key.h"
#include "net/zmq_dealer.h"
#include "rdma/open_device.h"
#include "translator/reporter_config.h"
#include "wire/report.h"

namespace pingloom::translator {

constexpr std::uint16_t kDefaultTranslatorHttpPort = 20718;
constexpr std::uint32_t kMaxThreads = 16;

struct KeysConfig {
  std::filesystem::path secret;
  std::optional<net::CurveKey> collector;  // the collector's public key
  std::optional<net::CurvePair> own;       // the key pair, set by loadKeys()
};

struct Config {
  std::string name;  // names this translator's store at the collector; the host's name unless set
  std::optional<IpAddress> address;  // the address whose RDMA device writes
  rdma::DeviceOptions device;
  std::string collector;      // HOST:PORT
  std::uint32_t threads = 1;  // each has a store of its own (ingest_group.h)
  SocketAddress listen{IpAddress::fromV4(0x7f000001), wire::kReportPort};
  ReporterSpecs reporters;  // empty: everybody on this host may report
  std::optional<PublishedSpec> published;
  SocketAddress http{IpAddress::fromV4(0x7f000001), kDefaultTranslatorHttpPort};
  http::AccessFiles http_access;
  std::optional<KeysConfig> keys;  // nullopt stands for plaintext
  std::filesystem::path url_file;  // written when the translator listens; may be empty
  log::Levels log_levels;
};

// Reads the section of an agent's configuration that makes the agent a translator too. It has the
// keys of the file apart from those that a daemon has once: http, http_access, url_file, log_level
// and log.
Status readValue(const yaml::Node& node, Config& config);

// Reads the configured secret key unless it was read before, and the reporters' keys.
Status loadKeys(Config& config);
// REQUIRES: loadKeys() has succeeded.
std::optional<net::DealerOptions::Curve> curveOf(const Config& config);

// Relative paths are relative to the file's folder. The error's entity is file:line:column.
Result<Config> parseConfig(std::string_view text, std::string_view file);

}  // namespace pingloom::translator
