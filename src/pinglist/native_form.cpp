#include "pinglist/address_list.h"
#include "pinglist/forms.h"
#include "pinglist/host_table.h"
#include "pinglist/plan_builder.h"
#include "pinglist/probe_parameters.h"
#include "pinglist/thresholds.h"

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

struct Defaults {
  plan::ProbeSpec spec;
  Thresholds thresholds;
};

Result<Defaults> readDefaults(const yaml::Node& root) {
  Defaults defaults;
  const auto node = root.find("defaults");
  if (!node || node->isNull()) return defaults;
  std::vector<std::string_view> keys = parameterNames();
  keys.emplace_back("thresholds");
  if (auto status = node->onlyKeys(keys); !status) return tl::unexpected(status.error());
  if (auto status = readParameters(*node, defaults.spec); !status) {
    return tl::unexpected(status.error());
  }
  if (auto status = readThresholds(*node, defaults.thresholds); !status) {
    return tl::unexpected(status.error());
  }
  return defaults;
}

const std::vector<std::string_view>& probeKeys() {
  static const std::vector<std::string_view> keys = [] {
    std::vector<std::string_view> made = {"name", "protocol", "mesh",  "from",      "to",
                                          "self", "port",     "paths", "thresholds"};
    for (const std::string_view name : parameterNames()) made.push_back(name);
    return made;
  }();
  return keys;
}

// Reads the probes one by one into the builder.
class ProbeReader {
 public:
  ProbeReader(const HostTable& hosts, const Defaults& defaults, PlanBuilder& builder,
              Warnings& warnings)
      : hosts_(hosts), defaults_(defaults), builder_(builder), warnings_(warnings) {}

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
    return readMembers(probe, *name_node, std::move(spec));
  }

  std::vector<Thresholds> takeThresholds() { return std::move(thresholds_); }

 private:
  Result<plan::AddressList> list(const yaml::Node& node) {
    return readAddressList(node, hosts_, Placeholders::kRefuse, warnings_);
  }

  Status readMembers(const yaml::Node& probe, const yaml::Node& place, plan::ProbeSpec spec) {
    const auto mesh = probe.find("mesh");
    const auto from = probe.find("from");
    const auto to = probe.find("to");
    if (mesh && (from || to)) {
      return probe.error("probe '" + spec.name + "' has 'mesh' together with 'from' or 'to'");
    }
    if (mesh) {
      auto members = list(*mesh);
      if (!members) return tl::unexpected(members.error());
      return builder_.addMesh(place, std::move(spec), std::move(*members));
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
  const Defaults& defaults_;
  PlanBuilder& builder_;
  Warnings& warnings_;
  std::vector<Thresholds> thresholds_;
};

}  // namespace

Result<Pinglist> parseNative(const yaml::Node& root, Nanos now_utc, Warnings& warnings) {
  auto status = root.onlyKeys({"version", "defaults", "hosts", "probes"});
  if (!status) return tl::unexpected(status.error());
  if (status = checkVersion(root); !status) return tl::unexpected(status.error());
  const auto defaults = readDefaults(root);
  if (!defaults) return tl::unexpected(defaults.error());
  HostTable hosts;
  if (const auto section = root.find("hosts")) {
    auto read = HostTable::read(*section, now_utc, warnings);
    if (!read) return tl::unexpected(read.error());
    hosts = std::move(*read);
  }
  const auto probes = root.find("probes");
  if (!probes) return root.error("'probes' is missing; write 'probes: []' to probe nothing");
  if (!probes->isSequence()) {
    return probes->error("expected a list of probes; write 'probes: []' to probe nothing");
  }
  PlanBuilder builder(warnings);
  ProbeReader reader(hosts, *defaults, builder, warnings);
  for (const yaml::Node& probe : probes->items()) {
    if (status = reader.read(probe); !status) return tl::unexpected(status.error());
  }
  Pinglist made;
  made.plan = builder.take();
  made.thresholds = reader.takeThresholds();
  hosts.moveTo(made);
  if (made.plan.probes.empty()) warnings.add(probes->place(), "no probes: nothing is probed");
  return made;
}

}  // namespace pingloom::pinglist
