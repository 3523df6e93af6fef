#include "agent/rdma_config.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "common/config_reader.h"
#include "rdma/open_device.h"

namespace pingloom::agent {
namespace {

using rdma::soft::Impairment;

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

template <double Impairment::*kField>
Status readProbability(const yaml::Node& node, Impaired& impaired) {
  const auto probability = readPercent(node);
  if (!probability) return tl::unexpected(probability.error());
  impaired.impairment.*kField = *probability;
  return {};
}

template <Nanos Impairment::*kField>
Status readTime(const yaml::Node& node, Impaired& impaired) {
  return readDuration(node, 1, Impairment::kMaxDelay, impaired.impairment.*kField);
}

constexpr auto kImpairedKeys = std::to_array<ConfigKey<Impaired>>({
    {"to", readField<&Impaired::to>},
    {"loss", readProbability<&Impairment::loss>},
    {"duplicate", readProbability<&Impairment::duplicate>},
    {"delay", readTime<&Impairment::delay>},
    {"jitter", readTime<&Impairment::jitter>},
});

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

constexpr auto kRdmaKeys = std::to_array<ConfigKey<RdmaConfig>>({
    {"device", readField<&RdmaConfig::device>},
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
    {"grh", [](const yaml::Node& node,
               RdmaConfig& config) { return pingloom::readValue(node, config.endpoint.grh); }},
    {"impair", readImpair},
});

}  // namespace

Status readValue(const yaml::Node& node, RdmaConfig& config) {
  if (auto status = readMap(node, kRdmaKeys, config); !status) return status;
  const bool soft = config.device.device == rdma::kSoftDevice;
  if (const auto impair = node.find("impair"); impair && !soft) {
    return impair->error("only a soft device can be impaired; write 'device: soft'");
  }
  return {};
}

}  // namespace pingloom::agent
