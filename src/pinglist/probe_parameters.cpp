#include "pinglist/probe_parameters.h"

#include <string>

#include "common/duration.h"
#include "common/text.h"
#include "wire/probe_packet.h"

namespace pingloom::pinglist {
namespace {

struct DurationKey {
  std::string_view name;
  Nanos plan::ProbeSpec::*field;
  Nanos shortest;
  Nanos longest;
};
constexpr std::array<DurationKey, 3> kDurations = {
    {{"interval", &plan::ProbeSpec::interval, kMillisecond, kHour},
     {"timeout", &plan::ProbeSpec::timeout, kMillisecond, 10 * kSecond},
     {"window", &plan::ProbeSpec::window, kSecond, kHour}}};

struct NumberKey {
  std::string_view name;
  std::uint32_t plan::ProbeSpec::*field;
  std::uint64_t smallest;
  std::uint64_t largest;
};
constexpr std::array<NumberKey, 2> kNumbers = {
    {{"traffic_class", &plan::ProbeSpec::traffic_class, 0, 255},
     {"payload", &plan::ProbeSpec::payload, wire::kPingMinBytes, wire::kPingMaxBytes}}};

Status readDuration(const yaml::Node& map, const DurationKey& key, plan::ProbeSpec& spec) {
  const auto node = map.find(key.name);
  if (!node) return {};
  const auto duration = node->duration();
  if (!duration) return tl::unexpected(duration.error());
  if (*duration < key.shortest || *duration > key.longest) {
    return node->error(std::string(key.name) + " " + formatDuration(*duration) + " is not within " +
                       formatDuration(key.shortest) + " and " + formatDuration(key.longest));
  }
  spec.*key.field = *duration;
  return {};
}

Status readNumber(const yaml::Node& map, const NumberKey& key, plan::ProbeSpec& spec) {
  const auto node = map.find(key.name);
  if (!node) return {};
  const auto number = node->number(key.smallest, key.largest);
  if (!number) return node->error(std::string(key.name) + ": " + number.error().reason);
  spec.*key.field = static_cast<std::uint32_t>(*number);
  return {};
}

Status readPort(const yaml::Node& probe, plan::ProbeSpec& spec) {
  const auto node = probe.find("port");
  if (!node) return {};
  if (spec.protocol != Protocol::kTcp) {
    return node->error("'port' is for tcp only: " + std::string(name(spec.protocol)) +
                       " probes are answered by agents");
  }
  const auto port = node->number(1, 65535);
  if (!port) return node->error("port: " + port.error().reason);
  spec.port = static_cast<std::uint16_t>(*port);
  return {};
}

Status readPaths(const yaml::Node& probe, plan::ProbeSpec& spec) {
  const auto node = probe.find("paths");
  if (!node) return {};
  if (spec.protocol != Protocol::kRdma) {
    return node->error("'paths' is for rdma only: " + std::string(name(spec.protocol)) +
                       " probes have no flow label to vary");
  }
  const auto paths = node->number(1, plan::kMaxPaths);
  if (!paths) return node->error("paths: " + paths.error().reason);
  spec.paths = static_cast<std::uint32_t>(*paths);
  return {};
}

// Reads a number that only rdma probes have.
Status readRdmaNumber(const yaml::Node& probe, std::string_view key, std::uint64_t largest,
                      const plan::ProbeSpec& spec, std::optional<std::uint8_t>& out) {
  const auto node = probe.find(key);
  if (!node) return {};
  if (spec.protocol != Protocol::kRdma) {
    return node->error("'" + std::string(key) + "' is for rdma only");
  }
  const auto number = node->number(0, largest);
  if (!number) return node->error(std::string(key) + ": " + number.error().reason);
  out = static_cast<std::uint8_t>(*number);
  return {};
}

Status readRdma(const yaml::Node& probe, plan::ProbeSpec& spec) {
  if (auto status = readPaths(probe, spec); !status) return status;
  if (const auto node = probe.find("p_key_index")) {
    return node->error(
        "'p_key_index' cannot differ by probe, because it belongs to the queue pair, and an agent "
        "has one for each address; write 'rdma: { p_key_index: N }' in the agents' configuration");
  }
  auto status =
      readRdmaNumber(probe, "service_level", plan::kMaxServiceLevel, spec, spec.service_level);
  return status ? readRdmaNumber(probe, "gid_index", 255, spec, spec.gid_index) : status;
}

}  // namespace

const std::vector<std::string_view>& parameterNames() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> made;
    made.reserve(kDurations.size() + kNumbers.size());
    for (const DurationKey& key : kDurations) made.push_back(key.name);
    for (const NumberKey& key : kNumbers) made.push_back(key.name);
    return made;
  }();
  return names;
}

Status readParameters(const yaml::Node& map, plan::ProbeSpec& spec) {
  for (const DurationKey& key : kDurations) {
    if (auto status = readDuration(map, key, spec); !status) return status;
  }
  for (const NumberKey& key : kNumbers) {
    if (auto status = readNumber(map, key, spec); !status) return status;
  }
  return {};
}

Status readProtocol(const yaml::Node& probe, plan::ProbeSpec& spec, Warnings& warnings) {
  const auto node = probe.find("protocol");
  if (!node) return probe.error("probe '" + spec.name + "' has no 'protocol': udp, tcp or rdma");
  const auto text = node->text();
  if (!text) return tl::unexpected(text.error());
  const auto protocol = protocolNamed(*text);
  if (!protocol) {
    return node->error("unknown protocol '" + *text + "'" +
                       didYouMean(*text, {kProtocolNames.begin(), kProtocolNames.end()}) +
                       "; use udp, tcp or rdma");
  }
  spec.protocol = *protocol;
  if (const auto self = probe.find("self")) {
    const auto wanted = self->boolean();
    if (!wanted) return tl::unexpected(wanted.error());
    spec.self = *wanted;
  }
  const auto payload = probe.find("payload");
  if (payload && spec.protocol == Protocol::kTcp) {
    warnings.add(payload->place(), "'payload' has no effect on tcp: a connect carries no data");
  }
  if (auto status = readRdma(probe, spec); !status) return status;
  return readPort(probe, spec);
}

Status checkWindow(const yaml::Node& probe, const plan::ProbeSpec& spec) {
  if (spec.window >= spec.interval) return {};
  auto place = probe.find("interval");
  if (!place) place = probe.find("window");
  return place.value_or(probe).error("window " + formatDuration(spec.window) +
                                     " is shorter than interval " + formatDuration(spec.interval));
}

}  // namespace pingloom::pinglist
