#include "agent/config.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/config_reader.h"
#include "common/text.h"
#include "keys/key_config.h"
#include "wire/control_protocol.h"

namespace pingloom::agent {
namespace {

std::string machineName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "";
  return name.data();
}

// Converts HOST, HOST:PORT or [IPV6]:PORT to HOST:PORT.
Result<std::string> parseController(std::string_view text) {
  const std::string shown = "'" + std::string(text) + "'";
  std::string_view host = text;
  std::string port = std::to_string(wire::kDefaultControlPort);
  const auto colon = text.rfind(':');
  const auto bracket = text.rfind(']');
  if (colon != std::string_view::npos &&
      (bracket == std::string_view::npos || colon == bracket + 1)) {
    host = text.substr(0, colon);
    const auto number = parseUnsigned(text.substr(colon + 1), 65535);
    if (!number || *number == 0) return makeError(shown, "the port is not a number 1..65535");
    port = std::to_string(*number);
  }
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) {
    const auto address = IpAddress::parse(host.substr(1, host.size() - 2));
    if (!address || address->isV4()) return makeError(shown, "not an IPv6 address in brackets");
  } else if (host.find(':') != std::string_view::npos) {
    return makeError(shown, "write an IPv6 controller as [ADDRESS]:PORT");
  }
  const bool sane = !host.empty() && host.size() <= wire::kMaxHostName &&
                    std::all_of(host.begin(), host.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_' ||
                             c == ':' || c == '[' || c == ']';
                    });
  if (!sane) return makeError(shown, "not HOST:PORT");
  return std::string(host) + ":" + port;
}

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

Status readController(const yaml::Node& node, Config& config) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  auto controller = parseController(*text);
  if (!controller) return node.error(controller.error().text());
  config.controller = std::move(*controller);
  return {};
}

Status readKeys(const yaml::Node& node, Config& config) {
  if (auto status = node.onlyKeys({"secret", "controller"}); !status) return status;
  KeysConfig& made = config.keys.emplace();
  if (auto status = keys::readSecretPath(node, made.secret); !status) return status;
  const auto controller = node.find("controller");
  if (!controller) return node.error("'controller' is missing: the controller's public key");
  auto known = keys::readPublicKeys(*controller);
  if (!known) return tl::unexpected(known.error());
  made.controller = std::move(*known);
  return {};
}

Status readHttpAccess(const yaml::Node& node, Config& config) {
  if (!config.http) return node.error("is for 'http', which is missing");
  return readValue(node, config.http_access);
}

constexpr auto kKeys = std::to_array<ConfigKey<Config>>({
    {"controller", readController},
    {"host", readHost},
    {"addresses", readAddresses},
    {"port", [](const yaml::Node& node,
                Config& config) { return readNumber(node, 1, 65535, config.port); }},
    {"state_dir", readField<&Config::state_dir>},
    {"http", readField<&Config::http>},
    {"http_access", readHttpAccess},
    {"log_level", readField<&Config::log_level>},
    {"spool",
     [](const yaml::Node& node, Config& config) { return readMap(node, kSpoolKeys, config); }},
    {"rdma", readField<&Config::rdma>},
    {"keys", readKeys},
    {"pages", readField<&Config::pages>},
});

}  // namespace

Status loadKeys(Config& config) {
  return config.keys ? keys::loadOwn(config.keys->secret, config.keys->own) : Status();
}

Result<Config> parseConfig(std::string_view text, std::string_view file) {
  const auto root = yaml::parse(text, file);
  if (!root) return tl::unexpected(root.error());
  if (root->isNull()) {
    return makeError(file, "is empty; it needs at least 'controller: HOST:PORT'");
  }
  Config config;
  if (auto status = readMap(*root, kKeys, config); !status) return tl::unexpected(status.error());
  if (config.controller.empty()) {
    return root->error("'controller' is missing; write 'controller: HOST:PORT'");
  }
  if (config.host.empty()) config.host = machineName();
  if (config.host.empty()) return root->error("this machine has no name; write 'host: NAME'");
  return config;
}

}  // namespace pingloom::agent
