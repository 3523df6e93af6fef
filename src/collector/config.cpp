#include "collector/config.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/config_reader.h"
#include "http/url.h"
#include "keys/key_config.h"
#include "pages/page_messages.h"
#include "rdma/open_device.h"

namespace pingloom::collector {
namespace {

constexpr Nanos kMinInterval = kMillisecond;
constexpr Nanos kMaxInterval = kHour;
constexpr std::size_t kMaxUrl = 253;  // bytes

Status readInterval(const yaml::Node& node, Nanos& out) {
  return readDuration(node, kMinInterval, kMaxInterval, out);
}

// Reads ADDRESS or ADDRESS:PORT.
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
  return keys::readSecretPath(node, config.keys.emplace().secret);
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

// A store's translator is known by its key, or without keys by its name only.
Status checkStoreKeys(const yaml::Node& root, const Config& config) {
  for (const StoreSpec& spec : config.stores) {
    if (!config.keys && !spec.readers.empty()) {
      return root.find("stores")->error("the store of " + spec.translator +
                                        " has readers' keys; write 'keys: { secret: FILE }' too");
    }
    if (config.keys.has_value() == (spec.key || !spec.writers.empty())) continue;
    return root.find("stores")->error(
        "store " + spec.translator +
        (config.keys
             ? " has no key; write { translator: NAME, key: PUBLIC_KEY, ... }, or 'writers: "
               "[PUBLIC_KEY, ...]' if it is shared"
             : " has a key; write 'keys: { secret: FILE }' too"));
  }
  return {};
}

Status readAddresses(const yaml::Node& node, Config& config) {
  std::vector<yaml::Node> items = {node};
  if (node.isSequence()) items = node.items();
  if (items.empty() || items.size() > kMaxReaders) return node.error("1 to 64 addresses");
  for (const yaml::Node& item : items) {
    if (auto status = readValue(item, config.addresses.emplace_back()); !status) return status;
  }
  return {};
}

// REQUIRES: the addresses have been read.
Status readReaders(const yaml::Node& node, Config& config) {
  if (auto status = readNumber(node, 1, kMaxReaders, config.readers); !status) return status;
  const std::size_t most = kMaxReaders / std::max<std::size_t>(config.addresses.size(), 1);
  if (config.readers <= most) return {};
  return node.error(
      fmt::format("{} readers for each of {} addresses are more than {} in all; "
                  "write at most {}",
                  config.readers, config.addresses.size(), kMaxReaders, most));
}

// Reads the keys that concern the connection to the controller.
template <std::filesystem::path Config::*kField>
Status readControllerFile(const yaml::Node& node, Config& config) {
  if (config.controllers.empty()) return node.error("is for a 'controller', which is missing");
  return readField<kField>(node, config);
}

Status addController(const yaml::Node& node, Config& config) {
  std::string text;
  if (auto status = readText(node, kMaxUrl, text); !status) return status;
  if (const auto url = http::parseUrl(text); !url) {
    return node.error(url.error().text() + "; write http://HOST:PORT or https://HOST:PORT");
  }
  auto& known = config.controllers;
  if (std::find(known.begin(), known.end(), text) != known.end()) {
    return node.error(text + " is there twice");
  }
  known.push_back(std::move(text));
  return {};
}

Status readController(const yaml::Node& node, Config& config) {
  if (!node.isSequence()) return addController(node, config);
  const auto items = node.items();
  if (items.empty()) return node.error("is empty; write http://HOST:PORT, or a list of them");
  if (items.size() > kMaxControllers) {
    return node.error(fmt::format("has more than {} controllers", kMaxControllers));
  }
  for (const yaml::Node& item : items) {
    if (auto status = addController(item, config); !status) return status;
  }
  return {};
}

Status readAdvertise(const yaml::Node& node, Config& config) {
  if (config.controllers.empty()) return node.error("is for a 'controller', which is missing");
  if (auto status = readText(node, kMaxUrl, config.advertise); !status) return status;
  const auto url = http::parseUrl(config.advertise);
  if (url && url->prefix.empty() && IpAddress::parse(url->host)) return {};
  return node.error("write http://ADDRESS:PORT or https://ADDRESS:PORT");
}

constexpr auto kConfigKeys = std::to_array<ConfigKey<Config>>({
    {"name", [](const yaml::Node& node,
                Config& config) { return readText(node, pages::kMaxCollectorName, config.name); }},
    {"address", readAddresses},
    {"device", readField<&Config::device>},
    {"readers", readReaders},
    {"http", readField<&Config::http>},
    {"http_access", readField<&Config::http_access>},
    {"controller", readController},
    {"controller_token", readControllerFile<&Config::controller_token>},
    {"controller_ca", readControllerFile<&Config::controller_ca>},
    {"advertise", readAdvertise},
    {"keys", readCollectorKeys},
    {"agents", readAgents},
    {"interval",
     [](const yaml::Node& node, Config& config) { return readInterval(node, config.interval); }},
    {"state_dir", readField<&Config::state_dir>},
    {"analytics", readField<&Config::analytics>},
    {"push", readField<&Config::push>},
    {"stores", readField<&Config::stores>},
    {"stores_port", [](const yaml::Node& node,
                       Config& config) { return readNumber(node, 1, 65535, config.stores_port); }},
    {"url_file", readField<&Config::url_file>},
    {"log_level",
     [](const yaml::Node& node, Config& config) { return readLogLevel(node, config.log_levels); }},
    {"log", readField<&Config::log_levels>},
});

}  // namespace

Status loadKeys(Config& config) {
  return config.keys ? keys::loadOwn(config.keys->secret, config.keys->own) : Status();
}

Result<Config> parseConfig(std::string_view text, std::string_view file) {
  const auto root = yaml::parse(text, file);
  if (!root) return tl::unexpected(root.error());
  if (root->isNull()) return makeError(file, "is empty; it needs 'address' and 'agents'");
  Config config;
  if (auto status = readMap(*root, kConfigKeys, config); !status) {
    return tl::unexpected(status.error());
  }
  if (config.addresses.empty()) {
    return root->error("'address' is missing: this host's, whose RDMA device reads");
  }
  if (config.agents.empty() && config.controllers.empty() && config.stores.empty()) {
    return root->error("whom to read? write 'agents: [ADDRESS, ...]' or 'controller: URL'");
  }
  if (auto status = checkAgentKeys(*root, config); !status) return tl::unexpected(status.error());
  if (auto status = checkStoreKeys(*root, config); !status) return tl::unexpected(status.error());
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
