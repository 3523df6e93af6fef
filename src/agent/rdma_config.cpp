#include "agent/rdma_config.h"

#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include "rdma/open_device.h"

namespace pingloom::agent {
namespace {

using rdma::soft::Impairment;

// A key of a map and what it sets.
template <typename Target>
struct RdmaKey {
  std::string_view name;
  Status (*read)(const yaml::Node&, Target&);
};

template <typename Target, std::size_t kCount>
Status readMap(const yaml::Node& node, const std::array<RdmaKey<Target>, kCount>& keys,
               Target& target) {
  std::vector<std::string_view> names;
  names.reserve(keys.size());
  for (const auto& key : keys) names.push_back(key.name);
  if (auto status = node.onlyKeys(names); !status) return status;
  for (const auto& key : keys) {
    const auto found = node.find(key.name);
    if (!found) continue;
    if (auto status = key.read(*found, target); !status) return status;
  }
  return {};
}

template <typename Number>
Status readNumber(const yaml::Node& node, std::uint64_t least, std::uint64_t most, Number& out) {
  const auto number = node.number(least, most);
  if (!number) return tl::unexpected(number.error());
  out = static_cast<Number>(*number);
  return {};
}

Status readDevice(const yaml::Node& node, RdmaConfig& config) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto parsed = rdma::parseDeviceName(*text, config.device);
  return parsed ? parsed : node.error(parsed.error().text());
}

Status readPoll(const yaml::Node& node, RdmaConfig& config) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  if (*text != "event" && *text != "busy")
    return node.error("'" + *text + "': write event or busy");
  config.endpoint.busy = *text == "busy";
  return {};
}

Status readMtu(const yaml::Node& node, RdmaConfig& config) {
  if (auto status = readNumber(node, 256, 4096, config.endpoint.mtu); !status) return status;
  if ((config.endpoint.mtu & (config.endpoint.mtu - 1)) == 0) return {};
  return node.error("a path MTU is 256, 512, 1024, 2048 or 4096");
}

// In hexadecimal, as everywhere else, or decimal.
Status readQKey(const yaml::Node& node, RdmaConfig& config) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const bool hex = text->starts_with("0x");
  const char* end = text->data() + text->size();
  std::uint32_t q_key = 0;
  const auto [rest, failed] =
      std::from_chars(text->data() + (hex ? 2 : 0), end, q_key, hex ? 16 : 10);
  if (failed != std::errc() || rest != end || q_key == 0 || q_key >= rdma::kPrivilegedQKey) {
    return node.error("'" + *text + "' is no Q_Key; write 0x1 to 0x7fffffff (bit 31 is reserved)");
  }
  config.endpoint.q_key = q_key;
  return {};
}

// "1%", "0.5%" -> 0.01, 0.005.
Result<double> readPercent(const yaml::Node& node) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  double percent = 0;
  const char* end = text->data() + text->size();
  const auto [rest, failed] = std::from_chars(text->data(), end, percent);
  const bool whole = failed == std::errc() && std::string_view(rest, end) == "%";
  if (!whole || !(percent >= 0 && percent <= 100)) {
    return node.error("'" + *text + "': write a percentage, such as 1% or 0.5%");
  }
  return percent / 100;
}

struct Impaired {
  std::optional<IpAddress> to;  // none: everywhere
  Impairment impairment;
};

Status readTo(const yaml::Node& node, Impaired& impaired) {
  const auto text = node.text();
  if (!text) return tl::unexpected(text.error());
  const auto address = IpAddress::parse(*text);
  if (!address) return node.error(address.error().text());
  impaired.to = *address;
  return {};
}

template <double Impairment::*kField>
Status readProbability(const yaml::Node& node, Impaired& impaired) {
  const auto probability = readPercent(node);
  if (!probability) return tl::unexpected(probability.error());
  impaired.impairment.*kField = *probability;
  return {};
}

template <Nanos Impairment::*kField>
Status readTime(const yaml::Node& node, Impaired& impaired) {
  const auto duration = node.duration();
  if (!duration) return tl::unexpected(duration.error());
  if (*duration > Impairment::kMaxDelay) return node.error("is more than 10s");
  impaired.impairment.*kField = *duration;
  return {};
}

constexpr std::array<RdmaKey<Impaired>, 5> kImpairedKeys = {
    {{"to", readTo},
     {"loss", readProbability<&Impairment::loss>},
     {"duplicate", readProbability<&Impairment::duplicate>},
     {"delay", readTime<&Impairment::delay>},
     {"jitter", readTime<&Impairment::jitter>}}};

Status readImpair(const yaml::Node& node, RdmaConfig& config) {
  if (!node.isSequence()) return node.error("expected a list: [{ to: 10.0.0.3, loss: 10% }]");
  for (const yaml::Node& item : node.items()) {
    Impaired impaired;
    if (auto status = readMap(item, kImpairedKeys, impaired); !status) return status;
    auto& impairments = config.device.soft.impairments;
    if (impaired.to) {
      impairments.towards[*impaired.to] = impaired.impairment;
    } else {
      impairments.everywhere = impaired.impairment;
    }
  }
  return {};
}

constexpr std::array<RdmaKey<RdmaConfig>, 9> kRdmaKeys = {
    {{"device", readDevice},
     {"poll", readPoll},
     {"mtu", readMtu},
     {"q_key", readQKey},
     {"service_level",
      [](const yaml::Node& node, RdmaConfig& config) {
        return readNumber(node, 0, 15, config.endpoint.service_level);
      }},
     {"flow_label",
      [](const yaml::Node& node, RdmaConfig& config) {
        return readNumber(node, 0, 0xFFFFF, config.endpoint.flow_label);
      }},
     {"p_key_index",
      [](const yaml::Node& node, RdmaConfig& config) {
        return readNumber(node, 0, 65535, config.endpoint.p_key_index);
      }},
     {"grh",
      [](const yaml::Node& node, RdmaConfig& config) -> Status {
        const auto grh = node.boolean();
        if (!grh) return tl::unexpected(grh.error());
        config.endpoint.grh = *grh;
        return {};
      }},
     {"impair", readImpair}}};

}  // namespace

Result<RdmaConfig> parseRdmaConfig(const yaml::Node& node) {
  RdmaConfig config;
  if (auto status = readMap(node, kRdmaKeys, config); !status)
    return tl::unexpected(status.error());
  const bool soft = config.device.device == rdma::kSoftDevice;
  if (const auto impair = node.find("impair"); impair && !soft) {
    return impair->error("only a soft device can be impaired; write 'device: soft'");
  }
  return config;
}

}  // namespace pingloom::agent
