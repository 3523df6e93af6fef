#include "agent/config.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "common/text.h"
#include "common/yaml.h"
#include "keys/key_config.h"
#include "wire/control_protocol.h"

namespace pingloom::agent {
namespace {

std::string machineName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "";
  return name.data();
}

// HOST, HOST:PORT or [IPV6]:PORT -> HOST:PORT.
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

Status readSpool(const yaml::Node& node, Config& config) {
  if (auto status = node.onlyKeys({"max_size"}); !status) return status;
  const auto size = node.find("max_size");
  if (!size) return {};
  auto text = size->text();
  if (!text) return tl::unexpected(text.error());
  const auto bytes = parseSize(*text);
  if (!bytes) return size->error(bytes.error().text());
  if (*bytes < kMinSpoolBytes || *bytes > kMaxSpoolBytes) {
    return size->error(*text + " is not within 4MiB..64GiB");
  }
  config.spool_max_bytes = *bytes;
  return {};
}

Status readController(const yaml::Node& node, Config& config) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  auto controller = parseController(*text);
  if (!controller) return node.error(controller.error().text());
  config.controller = std::move(*controller);
  return {};
}

Status readPort(const yaml::Node& node, Config& config) {
  const auto port = node.number(1, 65535);
  if (!port) return tl::unexpected(port.error());
  config.port = static_cast<std::uint16_t>(*port);
  return {};
}

Status readStateDir(const yaml::Node& node, Config& config) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (text->empty()) return node.error("is empty");
  config.state_dir = *text;
  return {};
}

Status readHttp(const yaml::Node& node, Config& config) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto address = SocketAddress::parse(*text);
  if (!address) return node.error(address.error().text());
  config.http = *address;
  return {};
}

Status readLogLevel(const yaml::Node& node, Config& config) {
  auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto level = log::parseLevel(*text);
  if (!level) return node.error(level.error().text());
  config.log_level = *level;
  return {};
}

Status readRdma(const yaml::Node& node, Config& config) {
  auto rdma = parseRdmaConfig(node);
  if (!rdma) return tl::unexpected(rdma.error());
  config.rdma = std::move(*rdma);
  return {};
}

// The path stays as it is written until the file's folder is known.
Status readKeys(const yaml::Node& node, Config& config) {
  if (auto status = node.onlyKeys({"secret", "controller"}); !status) return status;
  auto secret = keys::readSecretPath(node, "");
  if (!secret) return tl::unexpected(secret.error());
  const auto controller = node.find("controller");
  if (!controller) return node.error("'controller' is missing: the controller's public key");
  auto known = keys::readPublicKeys(*controller);
  if (!known) return tl::unexpected(known.error());
  config.keys = KeysConfig{std::move(*secret), std::nullopt, std::move(*known)};
  return {};
}

Status readPages(const yaml::Node& node, Config& config) {
  auto pages = parsePagesConfig(node);
  if (!pages) return tl::unexpected(pages.error());
  config.pages = std::move(*pages);
  return {};
}

Status readHttpAccess(const yaml::Node& root, const std::filesystem::path& folder, Config& config) {
  const auto node = root.find("http_access");
  if (!node) return {};
  if (!config.http) return node->error("is for 'http', which is missing");
  auto files = http::parseAccess(*node, folder);
  if (!files) return tl::unexpected(files.error());
  config.http_access = std::move(*files);
  return {};
}

struct Key {
  std::string_view name;
  Status (*read)(const yaml::Node&, Config&);
};
constexpr std::array<Key, 11> kKeys = {{{"controller", readController},
                                        {"host", readHost},
                                        {"addresses", readAddresses},
                                        {"port", readPort},
                                        {"state_dir", readStateDir},
                                        {"http", readHttp},
                                        {"log_level", readLogLevel},
                                        {"spool", readSpool},
                                        {"rdma", readRdma},
                                        {"keys", readKeys},
                                        {"pages", readPages}}};

}  // namespace

Result<std::uint64_t> parseSize(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, int>, 4> kUnits = {
      {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"B", 0}}};
  const std::string shown = "'" + std::string(text) + "'";
  int shift = 0;
  for (const auto& [unit, bits] : kUnits) {
    if (!text.ends_with(unit)) continue;
    text.remove_suffix(unit.size());
    shift = bits;
    break;
  }
  const auto number = parseUnsigned(text, std::numeric_limits<std::uint64_t>::max() >> shift);
  if (!number) return makeError(shown, "not a size; write bytes or a number with KiB, MiB or GiB");
  return *number << shift;
}

Status loadKeys(Config& config) {
  return config.keys ? keys::loadOwn(config.keys->secret, config.keys->own) : Status();
}

Result<Config> parseConfig(std::string_view text, std::string_view file) {
  const auto root = yaml::parse(text, file);
  if (!root) return tl::unexpected(root.error());
  if (root->isNull()) {
    return makeError(file, "is empty; it needs at least 'controller: HOST:PORT'");
  }
  std::vector<std::string_view> names;
  names.reserve(kKeys.size());
  for (const Key& key : kKeys) names.push_back(key.name);
  names.emplace_back("http_access");
  if (auto status = root->onlyKeys(names); !status) return tl::unexpected(status.error());

  Config config;
  for (const Key& key : kKeys) {
    const auto node = root->find(key.name);
    if (!node) continue;
    if (auto status = key.read(*node, config); !status) return tl::unexpected(status.error());
  }
  if (config.controller.empty()) {
    return root->error("'controller' is missing; write 'controller: HOST:PORT'");
  }
  if (config.host.empty()) config.host = machineName();
  if (config.host.empty()) return root->error("this machine has no name; write 'host: NAME'");
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  config.state_dir = (folder / config.state_dir).lexically_normal();
  if (auto status = readHttpAccess(*root, folder, config); !status) {
    return tl::unexpected(status.error());
  }
  if (config.keys) config.keys->secret = (folder / config.keys->secret).lexically_normal();
  return config;
}

}  // namespace pingloom::agent
