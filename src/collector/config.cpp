#include "collector/config.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "common/yaml.h"
#include "http/url.h"
#include "keys/key_config.h"
#include "pages/page_messages.h"
#include "rdma/open_device.h"

namespace pingloom::collector {
namespace {

namespace fs = std::filesystem;

constexpr Nanos kMinInterval = kMillisecond;
constexpr Nanos kMaxInterval = kHour;

Status readInterval(const yaml::Node& node, Nanos& out) {
  const auto interval = node.duration();
  if (!interval) return tl::unexpected(interval.error());
  if (*interval < kMinInterval || *interval > kMaxInterval) {
    return node.error("an interval is 1ms to 1h");
  }
  out = *interval;
  return {};
}

Status readText(const yaml::Node& node, std::string& out) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (text->empty() || text->size() > 253) return node.error("has 1 to 253 characters");
  out = std::move(*text);
  return {};
}

// ADDRESS or ADDRESS:PORT.
Result<std::string> agentName(const yaml::Node& node) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (const auto address = IpAddress::parse(*text)) {
    return SocketAddress{*address, pages::kDefaultPagesPort}.text();
  }
  const auto with_port = SocketAddress::parse(*text);
  if (!with_port || with_port->port == 0)
    return node.error("'" + *text + "': write ADDRESS or ADDRESS:PORT");
  return with_port->text();
}

Status readAgents(const yaml::Node& node, Config& config) {
  if (!node.isSequence()) return node.error("expected a list: [10.0.0.1, 10.0.0.2:20714]");
  const auto items = node.items();
  if (items.size() > kMaxAgents) return node.error("has more than 10000 agents");
  for (const yaml::Node& item : items) {
    AgentSpec spec;
    auto named = item;
    if (item.isMap()) {
      if (auto status = item.onlyKeys({"agent", "interval", "key"}); !status) return status;
      const auto agent = item.find("agent");
      if (!agent) return item.error("'agent' is missing; write { agent: ADDRESS, interval: 10ms }");
      if (const auto interval = item.find("interval")) {
        if (auto status = readInterval(*interval, spec.interval); !status) return status;
      }
      if (const auto key = item.find("key")) {
        const auto known = keys::readPublicKey(*key);
        if (!known) return tl::unexpected(known.error());
        spec.key = *known;
      }
      named = *agent;
    }
    auto name = agentName(named);
    if (!name) return tl::unexpected(name.error());
    spec.agent = std::move(*name);
    const bool twice =
        std::any_of(config.agents.begin(), config.agents.end(),
                    [&](const AgentSpec& other) { return other.agent == spec.agent; });
    if (twice) return item.error(spec.agent + " is here twice");
    config.agents.push_back(std::move(spec));
  }
  return {};
}

Status readCollectorKeys(const yaml::Node& node, Config& config) {
  if (auto status = node.onlyKeys({"secret"}); !status) return status;
  auto secret = keys::readSecretPath(node, "");
  if (!secret) return tl::unexpected(secret.error());
  config.keys = KeysConfig{std::move(*secret), std::nullopt};
  return {};
}

// The collector must know the keys of the agents to which it encrypts.
Status checkAgentKeys(const yaml::Node& root, const Config& config) {
  for (const AgentSpec& agent : config.agents) {
    if (config.keys && !agent.key) {
      return root.find("agents")->error("agent " + agent.agent +
                                        " has no key; write { agent: ADDRESS, key: PUBLIC_KEY }");
    }
    if (!config.keys && agent.key) {
      return root.find("agents")->error("agent " + agent.agent +
                                        " has a key; write 'keys: { secret: FILE }' too");
    }
  }
  return {};
}

Status readAddresses(const yaml::Node& node, Config& config) {
  std::vector<yaml::Node> items = {node};
  if (node.isSequence()) items = node.items();
  if (items.empty() || items.size() > kMaxThreads) return node.error("1 to 64 addresses");
  for (const yaml::Node& item : items) {
    auto text = item.text();
    if (!text) return tl::unexpected(text.error());
    const auto address = IpAddress::parse(*text);
    if (!address) return item.error(address.error().text());
    config.addresses.push_back(*address);
  }
  return {};
}

Status readDevice(const yaml::Node& node, Config& config) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto parsed = rdma::parseDeviceName(*text, config.device);
  return parsed ? parsed : node.error(parsed.error().text());
}

Status readHttp(const yaml::Node& node, Config& config) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto address = SocketAddress::parse(*text);
  if (!address) return node.error(address.error().text());
  config.http = *address;
  return {};
}

Status readPath(const yaml::Node& node, const fs::path& folder, fs::path& out) {
  auto path = http::parsePath(node, folder);
  if (!path) return tl::unexpected(path.error());
  out = std::move(*path);
  return {};
}

Status readHttpAccess(const yaml::Node& node, const fs::path& folder, Config& config) {
  auto files = http::parseAccess(node, folder);
  if (!files) return tl::unexpected(files.error());
  config.http_access = std::move(*files);
  return {};
}

// What the keys name by paths.
Status readFiles(const yaml::Node& root, const fs::path& folder, Config& config) {
  if (const auto node = root.find("http_access")) {
    if (auto status = readHttpAccess(*node, folder, config); !status) return status;
  }
  for (auto [key, out] : {std::pair{"controller_token", &config.controller_token},
                          std::pair{"controller_ca", &config.controller_ca}}) {
    const auto node = root.find(key);
    if (!node) continue;
    if (config.controller.empty()) return node->error("is for a 'controller', which is missing");
    if (auto status = readPath(*node, folder, *out); !status) return status;
  }
  return {};
}

Status readController(const yaml::Node& node, Config& config) {
  if (auto status = readText(node, config.controller); !status) return status;
  const auto url = http::parseUrl(config.controller);
  if (url) return {};
  return node.error(url.error().text() + "; write http://HOST:PORT or https://HOST:PORT");
}

Status readLogLevel(const yaml::Node& node, Config& config) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto level = log::parseLevel(*text);
  if (!level) return node.error(level.error().text());
  config.log_level = *level;
  return {};
}

Status readUrlFile(const yaml::Node& node, Config& config) {
  std::string text;
  if (auto status = readText(node, text); !status) return status;
  config.url_file = text;
  return {};
}

Status readAnalytics(const yaml::Node& node, Config& config) {
  auto settings = parseWatchSettings(node);
  if (!settings) return tl::unexpected(settings.error());
  config.analytics = std::move(*settings);
  return {};
}

struct ConfigKey {
  std::string_view name;
  Status (*read)(const yaml::Node&, Config&);
};
constexpr std::array<ConfigKey, 11> kConfigKeys = {
    {{"name", [](const yaml::Node& node, Config& config) { return readText(node, config.name); }},
     {"address", readAddresses},
     {"device", readDevice},
     {"http", readHttp},
     {"controller", readController},
     {"keys", readCollectorKeys},
     {"agents", readAgents},
     {"interval",
      [](const yaml::Node& node, Config& config) { return readInterval(node, config.interval); }},
     {"analytics", readAnalytics},
     {"url_file", readUrlFile},
     {"log_level", readLogLevel}}};

}  // namespace

Status loadKeys(Config& config) {
  return config.keys ? keys::loadOwn(config.keys->secret, config.keys->own) : Status();
}

Result<Config> parseConfig(std::string_view text, std::string_view file) {
  const auto root = yaml::parse(text, file);
  if (!root) return tl::unexpected(root.error());
  if (root->isNull()) return makeError(file, "is empty; it needs 'address' and 'agents'");
  std::vector<std::string_view> names;
  names.reserve(kConfigKeys.size() + 3);
  for (const ConfigKey& key : kConfigKeys) names.push_back(key.name);
  names.insert(names.end(), {"http_access", "controller_token", "controller_ca"});
  if (auto status = root->onlyKeys(names); !status) return tl::unexpected(status.error());
  Config config;
  for (const ConfigKey& key : kConfigKeys) {
    const auto node = root->find(key.name);
    if (!node) continue;
    if (auto status = key.read(*node, config); !status) return tl::unexpected(status.error());
  }
  std::error_code ignored;
  const fs::path folder = fs::absolute(fs::path(file), ignored).parent_path();
  if (auto status = readFiles(*root, folder, config); !status) {
    return tl::unexpected(status.error());
  }
  if (config.addresses.empty()) {
    return root->error("'address' is missing: this host's, whose RDMA device reads");
  }
  if (config.agents.empty() && config.controller.empty()) {
    return root->error("whom to read? write 'agents: [ADDRESS, ...]' or 'controller: URL'");
  }
  if (auto status = checkAgentKeys(*root, config); !status) return tl::unexpected(status.error());
  if (config.keys) {
    config.keys->secret =
        (std::filesystem::path(file).parent_path() / config.keys->secret).lexically_normal();
  }
  for (AgentSpec& agent : config.agents) {
    if (agent.interval == 0) agent.interval = config.interval;
  }
  if (config.name.empty()) {
    std::array<char, 254> name{};
    gethostname(name.data(), name.size() - 1);
    config.name = name.data();
  }
  return config;
}

}  // namespace pingloom::collector
