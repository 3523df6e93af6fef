#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "common/text.h"
#include "pinglist/address_list.h"
#include "pinglist/forms.h"
#include "pinglist/group_table.h"
#include "pinglist/host_table.h"
#include "pinglist/plan_builder.h"
#include "pinglist/probe_parameters.h"
#include "pinglist/sampling.h"
#include "pinglist/thresholds.h"
#include "pinglist/topology.h"

namespace pingloom::pinglist {
namespace {

constexpr std::uint64_t kVersion = 1;

Status checkVersion(const yaml::Node& root) {
  const auto version = root.find("version");
  if (!version) return root.error("'version: 1' is missing");
  const auto number = version->text();
  if (!number) return tl::unexpected(number.error());
  if (*number != std::to_string(kVersion)) {
    return version->error("version '" + *number + "' is not known here; write 'version: 1'");
  }
  return {};
}

// Reads `rollup`, the label by whose values latency is rolled up. A label that no host has is an
// error, because a misspelt one would give no roll-up and say nothing.
Status readRollup(const yaml::Node& map, const HostTable& hosts, std::string& rollup) {
  const auto node = map.find("rollup");
  if (!node) return {};
  auto label = node->text();
  if (!label) return tl::unexpected(label.error());
  if (*label == "none") {
    rollup.clear();
    return {};
  }
  const auto labels = hosts.allLabels();
  const auto found = labels.find(*label);
  if (found == labels.end()) {
    std::vector<std::string_view> known;
    known.reserve(labels.size());
    for (const auto& [name, longest] : labels) known.push_back(name);
    return node->error("rollup: no host of 'hosts:' has the label '" + *label + "'" +
                       didYouMean(*label, known) + "; write a label that hosts have, or none");
  }
  if (found->second > kMaxRollupValueBytes) {
    return node->error("rollup: a value of the label '" + *label + "' is longer than " +
                       std::to_string(kMaxRollupValueBytes) + " bytes");
  }
  rollup = std::move(*label);
  return {};
}

struct Defaults {
  plan::ProbeSpec spec;
  Thresholds thresholds;
  std::string rollup;
};

Result<Defaults> readDefaults(const yaml::Node& root, const HostTable& hosts) {
  Defaults defaults;
  const auto node = root.find("defaults");
  if (!node || node->isNull()) return defaults;
  std::vector<std::string_view> keys = parameterNames();
  keys.insert(keys.end(), {"thresholds", "rollup"});
  if (auto status = node->onlyKeys(keys); !status) return tl::unexpected(status.error());
  if (auto status = readParameters(*node, defaults.spec); !status) {
    return tl::unexpected(status.error());
  }
  if (auto status = readThresholds(*node, defaults.thresholds); !status) {
    return tl::unexpected(status.error());
  }
  if (auto status = readRollup(*node, hosts, defaults.rollup); !status) {
    return tl::unexpected(status.error());
  }
  return defaults;
}

const std::vector<std::string_view>& probeKeys() {
  static const std::vector<std::string_view> keys = [] {
    std::vector<std::string_view> made = {"name",        "protocol",   "mesh",          "members",
                                          "from",        "to",         "self",          "port",
                                          "paths",       "thresholds", "service_level", "gid_index",
                                          "p_key_index", "rollup",     "plan"};
    for (const std::string_view name : parameterNames()) made.push_back(name);
    return made;
  }();
  return keys;
}

// Reads the probes one by one into the builder.
class ProbeReader {
 public:
  ProbeReader(const HostTable& hosts, const Groups& groups, const Defaults& defaults,
              PlanBuilder& builder, Warnings& warnings)
      : hosts_(hosts),
        groups_(groups),
        defaults_(defaults),
        builder_(builder),
        warnings_(warnings) {}

  Status read(const yaml::Node& probe) {
    if (auto status = probe.onlyKeys(probeKeys()); !status) return status;
    const auto name_node = probe.find("name");
    if (!name_node) return probe.error("the probe has no 'name'");
    auto name = name_node->text();
    if (!name) return tl::unexpected(name.error());
    plan::ProbeSpec spec = defaults_.spec;
    spec.name = std::move(*name);
    if (auto status = readParameters(probe, spec); !status) return status;
    if (auto status = readProtocol(probe, spec, warnings_); !status) return status;
    if (auto status = checkWindow(probe, spec); !status) return status;
    thresholds_.push_back(defaults_.thresholds);
    if (auto status = readThresholds(probe, thresholds_.back()); !status) return status;
    rollups_.push_back(defaults_.rollup);
    if (auto status = readRollup(probe, hosts_, rollups_.back()); !status) return status;
    if (const auto plan = probe.find("plan")) {
      auto sampling = readSampling(*plan, probe, hosts_, spec);
      if (!sampling) return tl::unexpected(sampling.error());
      samplings_[spec.name] = std::move(*sampling);
    }
    return addProbe(probe, *name_node, std::move(spec));
  }

  std::vector<Thresholds> takeThresholds() { return std::move(thresholds_); }
  std::vector<std::string> takeRollups() { return std::move(rollups_); }
  std::map<std::string, Sampling> takeSamplings() { return std::move(samplings_); }

 private:
  Result<MemberList> list(const yaml::Node& node) {
    return readMembers(node, hosts_, &groups_, Placeholders::kRefuse, warnings_);
  }

  Status addProbe(const yaml::Node& probe, const yaml::Node& place, plan::ProbeSpec spec) {
    const auto members = probe.find("members");
    auto mesh = probe.find("mesh");
    if (mesh && members) return members->error("means the same as 'mesh'; write one of them");
    if (members) mesh = members;
    const auto from = probe.find("from");
    const auto to = probe.find("to");
    if (mesh && (from || to)) {
      return probe.error("probe '" + spec.name + "' has 'mesh' together with 'from' or 'to'");
    }
    if (mesh) {
      auto all = list(*mesh);
      if (!all) return tl::unexpected(all.error());
      if (all->addresses.size() * spec.across > plan::kMaxSampledPairs) {
        return mesh->error(fmt::format("{} members with {} targets each are more than {} pairs",
                                       all->addresses.size(), spec.across, plan::kMaxSampledPairs));
      }
      return builder_.addMesh(place, std::move(spec), std::move(*all));
    }
    if (!from && !to) {
      return probe.error("probe '" + spec.name +
                         "' has no members: write 'mesh', or 'from' and 'to'");
    }
    if (!from || !to) {
      return probe.error("probe '" + spec.name + "' has '" + (from ? "from" : "to") +
                         "' without '" + (from ? "to" : "from") + "'");
    }
    auto sources = list(*from);
    if (!sources) return tl::unexpected(sources.error());
    auto destinations = list(*to);
    if (!destinations) return tl::unexpected(destinations.error());
    return builder_.addDirected(place, std::move(spec), std::move(*sources),
                                std::move(*destinations));
  }

  const HostTable& hosts_;
  const Groups& groups_;
  const Defaults& defaults_;
  PlanBuilder& builder_;
  Warnings& warnings_;
  std::vector<Thresholds> thresholds_;
  std::vector<std::string> rollups_;
  std::map<std::string, Sampling> samplings_;
};

// The file's errors name their own place; those of reading it name the entry.
Result<Topology> readTopology(const yaml::Node& node) {
  const auto name = node.text();
  if (!name) return tl::unexpected(name.error());
  const auto path = std::filesystem::path(node.file()).parent_path() / *name;
  std::error_code ignored;
  if (name->empty() || !std::filesystem::is_regular_file(path, ignored)) {
    return node.error("there is no file " + path.string());
  }
  return loadTopology(path.string());
}

void warnOfUnlabeled(const Pinglist& made, const yaml::Node& probes, Warnings& warnings) {
  for (const auto& [name, sampling] : made.samplings) {
    if (sampling.unlabeled == 0) continue;
    warnings.add(probes.place(),
                 fmt::format("probe '{}': {} members have no label '{}', so each of them is a "
                             "group of its own",
                             name, sampling.unlabeled, sampling.label));
  }
}

}  // namespace

Result<Pinglist> parseNative(const yaml::Node& root, Nanos now_utc, Warnings& warnings) {
  auto status = root.onlyKeys({"version", "defaults", "hosts", "groups", "topology", "probes"});
  if (!status) return tl::unexpected(status.error());
  if (status = checkVersion(root); !status) return tl::unexpected(status.error());
  HostTable hosts;
  if (const auto section = root.find("hosts")) {
    auto read = HostTable::read(*section, now_utc, warnings);
    if (!read) return tl::unexpected(read.error());
    hosts = std::move(*read);
  }
  const auto defaults = readDefaults(root, hosts);
  if (!defaults) return tl::unexpected(defaults.error());
  Groups groups;
  if (const auto section = root.find("groups")) {
    auto read = readGroups(*section, hosts, warnings);
    if (!read) return tl::unexpected(read.error());
    groups = std::move(*read);
  }
  const auto probes = root.find("probes");
  if (!probes) return root.error("'probes' is missing; write 'probes: []' to probe nothing");
  if (!probes->isSequence()) {
    return probes->error("expected a list of probes; write 'probes: []' to probe nothing");
  }
  PlanBuilder builder(warnings);
  ProbeReader reader(hosts, groups, *defaults, builder, warnings);
  for (const yaml::Node& probe : probes->items()) {
    if (status = reader.read(probe); !status) return tl::unexpected(status.error());
  }
  Pinglist made;
  if (const auto topology = root.find("topology")) {
    auto read = readTopology(*topology);
    if (!read) return tl::unexpected(read.error());
    made.topology = std::move(*read);
  }
  builder.moveTo(made);
  made.thresholds = reader.takeThresholds();
  made.rollups = reader.takeRollups();
  hosts.moveTo(made);
  made.samplings = reader.takeSamplings();
  formGroups(made);
  warnOfUnlabeled(made, *probes, warnings);
  if (made.plan.probes.empty()) warnings.add(probes->place(), "no probes: nothing is probed");
  return made;
}

}  // namespace pingloom::pinglist
