// How the daemons read their configuration files: a table of the keys that a map may have, and one
// reader for each kind of value that stands behind them. Every error says file:line:column, the
// key, and what is accepted. No state; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/address.h"
#include "common/duration.h"
#include "common/error.h"
#include "common/log.h"
#include "common/size.h"
#include "common/yaml.h"

namespace pingloom {

// A key of a map, and what reads its value into `Target`.
template <typename Target>
struct ConfigKey {
  std::string_view name;
  Status (*read)(const yaml::Node& value, Target& target);
};

// Reads the keys that are there in the table's order, so that a reader may look at what stands
// above it in the table. An error for what is not a map, for an unknown key (with the known one
// that is meant) and for a key that is there twice.
template <typename Target, std::size_t kKeys>
Status readMap(const yaml::Node& map, const std::array<ConfigKey<Target>, kKeys>& keys,
               Target& target) {
  std::vector<std::string_view> names;
  names.reserve(kKeys);
  for (const auto& key : keys) names.push_back(key.name);
  if (auto status = map.onlyKeys(names); !status) return status;
  for (const auto& key : keys) {
    const auto value = map.find(key.name);
    if (!value) continue;
    if (auto status = key.read(*value, target); !status) return status;
  }
  return {};
}

// A path as the file has it; a relative one is relative to the file's folder.
std::filesystem::path resolvePath(const yaml::Node& node, std::string_view written);

Status readValue(const yaml::Node& node, std::filesystem::path& out);  // as resolvePath()
Status readValue(const yaml::Node& node, IpAddress& out);
Status readValue(const yaml::Node& node, SocketAddress& out);
Status readValue(const yaml::Node& node, log::Level& out);
// Reads `log`: { level: info, rdma: debug }.
Status readValue(const yaml::Node& node, log::Levels& out);
// Reads `log_level`, the level of all components. `log: { level }` overrides it, so it stands
// before `log` in a table.
Status readLogLevel(const yaml::Node& node, log::Levels& out);
Status readValue(const yaml::Node& node, bool& out);

// Refuse what is below `least` or above `most`.
Status readText(const yaml::Node& node, std::size_t most_bytes, std::string& out);  // not empty
Status readSize(const yaml::Node& node, std::uint64_t least, std::uint64_t most,
                std::uint64_t& out);
// A finite decimal number; without bounds any.
Status readReal(const yaml::Node& node, double& out);
Status readReal(const yaml::Node& node, double least, double most, double& out);
Status readDuration(const yaml::Node& node, Nanos least, Nanos most, Nanos& out);
template <typename Number>
Status readNumber(const yaml::Node& node, std::uint64_t least, std::uint64_t most, Number& out) {
  const auto number = node.number(least, most);
  if (!number) return tl::unexpected(number.error());
  out = static_cast<Number>(*number);
  return {};
}

template <typename Value>
Status readValue(const yaml::Node& node, std::optional<Value>& out) {
  return readValue(node, out.emplace());
}

// A table's entry for a value that needs no more than its type: {"http", readField<&Config::http>}.
// Another library's type is read by the readValue() in its namespace.
template <auto kField, typename Target>
Status readField(const yaml::Node& node, Target& target) {
  return readValue(node, target.*kField);
}

}  // namespace pingloom
