#include "pinglist/sampling.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "common/text.h"
#include "pinglist/host_table.h"
#include "pinglist/pinglist.h"

namespace pingloom::pinglist {
namespace {

constexpr std::string_view kExample = "{ full: rack, across: { targets: 32, paths: 8, cover: 3 } }";

Result<std::string> readLabel(const yaml::Node& node, const HostTable& hosts) {
  auto label = node.text();
  if (!label) return label;
  const auto labels = hosts.allLabels();
  if (labels.contains(*label)) return label;
  std::vector<std::string_view> known;
  known.reserve(labels.size());
  for (const auto& [name, longest] : labels) known.push_back(name);
  return node.error("full: no host of 'hosts:' has the label '" + *label + "'" +
                    didYouMean(*label, known) + "; write a label that hosts have");
}

Status readNumber(const yaml::Node& map, std::string_view key, std::uint64_t largest,
                  std::uint32_t& out) {
  const auto node = map.find(key);
  if (!node) return {};
  const auto number = node->number(1, largest);
  if (!number) return node->error(std::string(key) + ": " + number.error().reason);
  out = static_cast<std::uint32_t>(*number);
  return {};
}

Status readAcross(const yaml::Node& node, plan::ProbeSpec& spec, Sampling& sampling) {
  if (!node.isMap()) return node.error("expected { targets: N, paths: P, cover: C }");
  if (auto status = node.onlyKeys({"targets", "paths", "cover"}); !status) return status;
  if (!node.find("targets")) {
    return node.error("'across' has no 'targets': how many members of other groups each probes");
  }
  const auto paths = node.find("paths");
  if (paths && spec.protocol != Protocol::kRdma) {
    return paths->error("'paths' is for rdma only: " + std::string(name(spec.protocol)) +
                        " probes have no flow label to vary");
  }
  auto status = readNumber(node, "targets", plan::kMaxAcross, spec.across);
  if (status) status = readNumber(node, "paths", plan::kMaxPaths, spec.paths);
  if (status) status = readNumber(node, "cover", Sampling::kMaxCover, sampling.cover);
  return status;
}

// A host's labels; the label of an address counts as `rail` unless the host has such a label.
const std::string* valueOf(const Host& host, const std::string& address_label,
                           const std::string& label) {
  const auto found = host.labels.find(label);
  if (found != host.labels.end()) return &found->second;
  return label == "rail" && !address_label.empty() ? &address_label : nullptr;
}

// The value is free text of any length, so the list has a hash of it in its name.
std::string listName(const std::string& probe, std::string_view value) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : value) {
    hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3;
  }
  return fmt::format("{}/{:016x}", probe, hash);
}

using Places =
    std::unordered_map<IpAddress, std::pair<const Host*, const std::string*>, IpAddressHash>;

void formGroupsOf(plan::ProbeSpec& spec, const Places& places, plan::Plan& plan,
                  Sampling& sampling) {
  for (const std::string& name : spec.groups) plan.lists.erase(name);
  spec.groups.clear();
  sampling.unlabeled = 0;
  std::map<std::string, plan::AddressList> groups;
  for (const IpAddress& address : plan.list(spec.destinations)) {
    const auto place = places.find(address);
    const std::string* const value =
        place == places.end()
            ? nullptr
            : valueOf(*place->second.first, *place->second.second, sampling.label);
    const std::string name = value == nullptr ? "" : listName(spec.name, *value);
    if (value == nullptr || (groups.size() == plan::kMaxGroups && !groups.contains(name))) {
      ++sampling.unlabeled;
    } else {
      groups[name].push_back(address);
    }
  }
  for (auto& [name, list] : groups) {
    spec.groups.push_back(name);
    plan.lists[name] = std::make_shared<const plan::AddressList>(std::move(list));
  }
}

}  // namespace

Result<Sampling> readSampling(const yaml::Node& node, const yaml::Node& probe,
                              const HostTable& hosts, plan::ProbeSpec& spec) {
  if (!node.isMap()) return node.error("expected a map such as " + std::string(kExample));
  if (auto status = node.onlyKeys({"full", "across"}); !status) {
    return tl::unexpected(status.error());
  }
  const auto full = node.find("full");
  const auto across = node.find("across");
  if (!full || !across) {
    return node.error(std::string("'plan' has no '") + (full ? "across" : "full") +
                      "'; write it like " + std::string(kExample));
  }
  if (probe.find("from") || probe.find("to")) {
    return node.error("'plan' is for a mesh; a probe with 'from' and 'to' has all of their pairs");
  }
  if (const auto paths = probe.find("paths")) {
    return paths->error(
        "a probe with 'plan' has 'paths' in its 'across'; pairs within a group have one path");
  }
  Sampling made;
  auto label = readLabel(*full, hosts);
  if (!label) return tl::unexpected(label.error());
  made.label = std::move(*label);
  if (auto status = readAcross(*across, spec, made); !status) return tl::unexpected(status.error());
  return made;
}

void formGroups(Pinglist& pinglist) {
  if (pinglist.samplings.empty()) return;
  Places places;
  for (const Host& host : pinglist.hosts) {
    for (const auto& [label, address] : host.addresses) places[address] = {&host, &label};
  }
  for (plan::ProbeSpec& spec : pinglist.plan.probes) {
    const auto sampling = pinglist.samplings.find(spec.name);
    if (sampling == pinglist.samplings.end()) continue;
    formGroupsOf(spec, places, pinglist.plan, sampling->second);
  }
}

}  // namespace pingloom::pinglist
