#include "translator/config.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "common/config_reader.h"
#include "common/host_port.h"
#include "keys/key_config.h"
#include "store/layout.h"
#include "store/name_config.h"
#include "store/store_messages.h"

namespace pingloom::translator {
namespace {

Status readCollector(const yaml::Node& node, Config& config) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (const auto address = IpAddress::parse(*text)) {
    config.collector = SocketAddress{*address, store::kDefaultStorePort}.text();
    return {};
  }
  auto collector = parseHostPort(*text, store::kDefaultStorePort);
  if (!collector) return node.error(collector.error().text());
  config.collector = std::move(*collector);
  return {};
}

Status readTranslatorKeys(const yaml::Node& node, Config& config) {
  if (auto status = node.onlyKeys({"secret", "collector"}); !status) return status;
  KeysConfig& keys = config.keys.emplace();
  if (auto status = keys::readSecretPath(node, keys.secret); !status) return status;
  const auto collector = node.find("collector");
  if (!collector) return node.error("'collector' is missing: the collector's public key");
  const auto key = keys::readPublicKey(*collector);
  if (!key) return tl::unexpected(key.error());
  keys.collector = *key;
  return {};
}

constexpr auto kWorkKeys = std::to_array<ConfigKey<Config>>({
    {"name",
     [](const yaml::Node& node, Config& config) { return store::readName(node, config.name); }},
    {"address", readField<&Config::address>},
    {"device", readField<&Config::device>},
    {"collector", readCollector},
    {"threads", [](const yaml::Node& node,
                   Config& config) { return readNumber(node, 1, kMaxThreads, config.threads); }},
    {"listen", readField<&Config::listen>},
    {"reporters", readField<&Config::reporters>},
    {"published", readField<&Config::published>},
    {"keys", readTranslatorKeys},
});

constexpr auto kDaemonKeys = std::to_array<ConfigKey<Config>>({
    {"http", readField<&Config::http>},
    {"http_access", readField<&Config::http_access>},
    {"url_file", readField<&Config::url_file>},
    {"log_level",
     [](const yaml::Node& node, Config& config) { return readLogLevel(node, config.log_levels); }},
    {"log", readField<&Config::log_levels>},
});

// The host's name with the characters that a store's name may have.
std::string nameOfHost() {
  std::array<char, 254> host{};
  gethostname(host.data(), host.size() - 1);
  std::string name = std::string(host.data()).substr(0, store::kMaxTableName);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) {
    return std::isalnum(c) != 0 ? static_cast<char>(std::tolower(c)) : '-';
  });
  return name.empty() ? "translator" : name;
}

// The keys of a file: those of the work and those of a daemon.
constexpr auto kFileKeys = [] {
  std::array<ConfigKey<Config>, kWorkKeys.size() + kDaemonKeys.size()> all{};
  std::copy(kDaemonKeys.begin(), kDaemonKeys.end(),
            std::copy(kWorkKeys.begin(), kWorkKeys.end(), all.begin()));
  return all;
}();

Status complete(const yaml::Node& node, Config& config) {
  if (!config.address) {
    return node.error("'address' is missing: this host's, whose RDMA device writes");
  }
  if (config.collector.empty()) {
    return node.error("'collector' is missing: write 'collector: ADDRESS'");
  }
  if (config.name.empty()) config.name = nameOfHost();
  return {};
}

}  // namespace

Status readValue(const yaml::Node& node, Config& config) {
  if (auto status = readMap(node, kWorkKeys, config); !status) return status;
  return complete(node, config);
}

Status loadKeys(Config& config) {
  if (config.keys) {
    Status own = keys::loadOwn(config.keys->secret, config.keys->own);
    if (!own) return own;
  }
  return loadReporterKeys(config.reporters);
}

std::optional<net::DealerOptions::Curve> curveOf(const Config& config) {
  if (!config.keys || !config.keys->own || !config.keys->collector) return std::nullopt;
  return net::DealerOptions::Curve{*config.keys->own, *config.keys->collector};
}

Result<Config> parseConfig(std::string_view text, std::string_view file) {
  const auto root = yaml::parse(text, file);
  if (!root) return tl::unexpected(root.error());
  if (root->isNull()) return makeError(file, "is empty; it needs 'address' and 'collector'");
  Config config;
  if (auto status = readMap(*root, kFileKeys, config); !status) {
    return tl::unexpected(status.error());
  }
  if (auto status = complete(*root, config); !status) return tl::unexpected(status.error());
  return config;
}

}  // namespace pingloom::translator
