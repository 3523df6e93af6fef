#include "agent/config.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/config_reader.h"
#include "common/host_port.h"
#include "common/machine_name.h"
#include "keys/key_config.h"
#include "keys/key_file.h"
#include "wire/control_protocol.h"

namespace pingloom::agent {
bool announcesPages(const Config& config, const IpAddress& pages) {
  if (!pages.isLoopback()) return true;
  return std::all_of(
      config.controllers.begin(), config.controllers.end(), [](const std::string& text) {
        const auto controller = SocketAddress::parse(text);
        return controller ? controller->address.isLoopback() : text.rfind("localhost:", 0) == 0;
      });
}

Result<std::string> parseController(std::string_view text) {
  return parseHostPort(text, wire::kDefaultControlPort);
}

namespace {

Status readHost(const yaml::Node& node, Config& config) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (!wire::isHostName(*text)) {
    return node.error("a host name has 1 to 253 characters and no blanks");
  }
  config.host = std::move(*text);
  return {};
}

Status readAddresses(const yaml::Node& node, Config& config) {
  if (!node.isSequence()) return node.error("expected a list of addresses: [10.0.0.1, fd00::1]");
  const auto items = node.items();
  if (items.empty()) return node.error("is empty; leave it out to use all of the machine's");
  if (items.size() > wire::kMaxHostAddresses) {
    return node.error("has more than " + std::to_string(wire::kMaxHostAddresses) + " addresses");
  }
  for (const yaml::Node& item : items) {
    auto text = item.text();
    if (!text) return tl::unexpected(text.error());
    const auto address = IpAddress::parse(*text);
    if (!address) return item.error(address.error().text());
    if (address->isUnspecified()) {
      return item.error(*text + " is no address to be probed at; leave 'addresses' out instead");
    }
    if (std::find(config.addresses.begin(), config.addresses.end(), *address) !=
        config.addresses.end()) {
      return item.error(address->text() + " is here twice");
    }
    config.addresses.push_back(*address);
  }
  std::sort(config.addresses.begin(), config.addresses.end());
  return {};
}

constexpr auto kSpoolKeys = std::to_array<ConfigKey<Config>>({
    {"max_size",
     [](const yaml::Node& node, Config& config) {
       return readSize(node, kMinSpoolBytes, kMaxSpoolBytes, config.spool_max_bytes);
     }},
});

Status addController(const yaml::Node& node, Config& config) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  auto controller = parseController(*text);
  if (!controller) return node.error(controller.error().text());
  auto& known = config.controllers;
  if (std::find(known.begin(), known.end(), *controller) != known.end()) {
    return node.error(*controller + " is there twice");
  }
  known.push_back(std::move(*controller));
  return {};
}

Status readController(const yaml::Node& node, Config& config) {
  if (!node.isSequence()) return addController(node, config);
  const auto items = node.items();
  if (items.empty()) return node.error("is empty; write HOST:PORT, or a list of them");
  if (items.size() > kMaxControllers) {
    return node.error("has more than " + std::to_string(kMaxControllers) + " controllers");
  }
  for (const yaml::Node& item : items) {
    if (auto status = addController(item, config); !status) return status;
  }
  return {};
}

Status readKeys(const yaml::Node& node, Config& config) {
  if (auto status = node.onlyKeys({"secret", "controller", "join"}); !status) return status;
  KeysConfig& made = config.keys.emplace();
  if (auto status = keys::readSecretPath(node, made.secret); !status) return status;
  const auto controller = node.find("controller");
  if (const auto join = node.find("join")) {
    if (auto status = pingloom::readValue(*join, made.join); !status) return status;
    if (controller) return node.error("'join' brings the controller's key: leave 'controller' out");
    const auto known = keys::publicKeyOf(controllerKeyFile(made).string());
    if (known) made.controller = {*known};
    return {};
  }
  if (!controller) {
    return node.error("'controller' is missing: the controller's public key; or 'join: FILE'");
  }
  auto known = keys::readPublicKeys(*controller);
  if (!known) return tl::unexpected(known.error());
  made.controller = std::move(*known);
  return {};
}

Status readHttp(const yaml::Node& node, Config& config) {
  config.http_by_default = false;
  const auto text = node.text();
  if (text && *text == "none") {
    config.http.reset();
    return {};
  }
  return readValue(node, config.http);
}

Status readHttpAccess(const yaml::Node& node, Config& config) {
  if (!config.http) return node.error("is for 'http', which is none");
  return readValue(node, config.http_access);
}

constexpr auto kKeys = std::to_array<ConfigKey<Config>>({
    {"controller", readController},
    {"host", readHost},
    {"addresses", readAddresses},
    {"port", [](const yaml::Node& node,
                Config& config) { return readNumber(node, 1, 65535, config.port); }},
    {"state_dir", readField<&Config::state_dir>},
    {"http", readHttp},
    {"http_access", readHttpAccess},
    {"log_level",
     [](const yaml::Node& node, Config& config) { return readLogLevel(node, config.log_levels); }},
    {"log", readField<&Config::log_levels>},
    {"spool",
     [](const yaml::Node& node, Config& config) { return readMap(node, kSpoolKeys, config); }},
    {"rdma", readField<&Config::rdma>},
    {"results_log", readField<&Config::results_log>},
    {"events", readField<&Config::events>},
    {"translator", readField<&Config::translator>},
    {"keys", readKeys},
    {"pages", readField<&Config::pages>},
});

}  // namespace

std::filesystem::path controllerKeyFile(const KeysConfig& keys) {
  return keys.secret.string() + ".controller";
}

Status loadKeys(Config& config) {
  if (!config.keys) return {};
  if (config.keys->controller.empty()) {
    return makeError(config.keys->secret.string(), "this host has not joined yet");
  }
  return keys::loadOwn(config.keys->secret, config.keys->own);
}

Result<Config> parseConfig(std::string_view text, std::string_view file) {
  const auto root = yaml::parse(text, file);
  if (!root) return tl::unexpected(root.error());
  if (root->isNull()) {
    return makeError(file, "is empty; it needs at least 'controller: HOST:PORT'");
  }
  Config config;
  config.http = SocketAddress{IpAddress::fromV4(0x7f000001), kDefaultHttpPort};
  config.http_by_default = true;
  if (auto status = readMap(*root, kKeys, config); !status) return tl::unexpected(status.error());
  if (config.controllers.empty()) {
    return root->error("'controller' is missing; write 'controller: HOST:PORT'");
  }
  if (config.host.empty()) config.host = machineName();
  if (config.host.empty()) return root->error("this machine has no name; write 'host: NAME'");
  return config;
}

}  // namespace pingloom::agent
