#include "plan/plan_codec.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "wire/probe_packet.h"

namespace pingloom::plan {
namespace {

void append(const IpAddress& address, std::string& v4, std::string& v6) {
  (address.isV4() ? v4 : v6) += address.wire();
}

void encodeDifference(const AddressList& base, const AddressList& target,
                      wire::AddressListUpdate& out) {
  AddressList removed;
  AddressList added;
  std::set_difference(base.begin(), base.end(), target.begin(), target.end(),
                      std::back_inserter(removed));
  std::set_difference(target.begin(), target.end(), base.begin(), base.end(),
                      std::back_inserter(added));
  for (const IpAddress& address : added)
    append(address, *out.mutable_added_v4(), *out.mutable_added_v6());
  for (const IpAddress& address : removed) {
    append(address, *out.mutable_removed_v4(), *out.mutable_removed_v6());
  }
}

wire::ProbeSpec encodeProbe(const ProbeSpec& probe) {
  wire::ProbeSpec out;
  out.set_name(probe.name);
  out.set_protocol(static_cast<wire::ProbeProtocol>(probe.protocol));
  out.set_sources(probe.sources);
  out.set_destinations(probe.destinations);
  out.set_self(probe.self);
  out.set_interval_ns(probe.interval);
  out.set_timeout_ns(probe.timeout);
  out.set_window_ns(probe.window);
  out.set_traffic_class(probe.traffic_class);
  out.set_payload(probe.payload);
  out.set_port(probe.port);
  out.set_paths(probe.paths);
  if (probe.service_level) out.set_service_level(*probe.service_level);
  if (probe.gid_index) out.set_gid_index(*probe.gid_index);
  out.set_across(probe.across);
  for (const std::string& group : probe.groups) out.add_groups(group);
  for (const auto& [source, destination] : probe.extra) {
    append(source, *out.mutable_extra_v4(), *out.mutable_extra_v6());
    append(destination, *out.mutable_extra_v4(), *out.mutable_extra_v6());
  }
  return out;
}

std::uint32_t pathsOf(const wire::ProbeSpec& in) { return std::max(1U, in.paths()); }

bool hasRdmaFields(const wire::ProbeSpec& in) {
  return pathsOf(in) != 1 || in.has_service_level() || in.has_gid_index();
}

// Only a mesh samples.
bool hasSaneGroups(const wire::ProbeSpec& in) {
  if (in.across() == 0) {
    return in.groups_size() == 0 && in.extra_v4().empty() && in.extra_v6().empty();
  }
  return in.across() <= kMaxAcross && in.sources() == in.destinations() &&
         static_cast<std::size_t>(in.groups_size()) <= kMaxGroups;
}

Status decodeExtra(const std::string& bytes, std::size_t width, ProbeSpec& probe) {
  if (bytes.size() % (2 * width) != 0 || bytes.size() / (2 * width) > kMaxExtraPairs) {
    return makeError("plan probe '" + probe.name + "'", "has extra pairs of a bad length");
  }
  for (std::size_t at = 0; at < bytes.size(); at += 2 * width) {
    const auto source = IpAddress::fromWire(std::string_view(bytes).substr(at, width));
    if (!source) return tl::unexpected(source.error());
    const auto destination = IpAddress::fromWire(std::string_view(bytes).substr(at + width, width));
    if (!destination) return tl::unexpected(destination.error());
    probe.extra.emplace_back(*source, *destination);
  }
  return {};
}

Result<ProbeSpec> decodeProbe(const wire::ProbeSpec& in) {
  const bool sane =
      validProbeName(in.name()) && in.protocol() >= wire::UDP && in.protocol() <= wire::RDMA &&
      in.interval_ns() > 0 && in.timeout_ns() > 0 && in.window_ns() > 0 &&
      in.traffic_class() <= 255 && in.payload() >= wire::kPingMinBytes &&
      in.payload() <= wire::kPingMaxBytes && in.port() <= 65535 && pathsOf(in) <= kMaxPaths &&
      (in.protocol() == wire::RDMA || !hasRdmaFields(in)) &&
      in.service_level() <= kMaxServiceLevel && in.gid_index() <= 255 && hasSaneGroups(in);
  if (!sane) return makeError("plan probe '" + in.name() + "'", "has a field out of range");
  ProbeSpec probe;
  probe.name = in.name();
  probe.protocol = static_cast<Protocol>(in.protocol());
  probe.sources = in.sources();
  probe.destinations = in.destinations();
  probe.self = in.self();
  probe.interval = in.interval_ns();
  probe.timeout = in.timeout_ns();
  probe.window = in.window_ns();
  probe.traffic_class = in.traffic_class();
  probe.payload = in.payload();
  probe.port = static_cast<std::uint16_t>(in.port());
  probe.paths = pathsOf(in);
  if (in.has_service_level()) probe.service_level = static_cast<std::uint8_t>(in.service_level());
  if (in.has_gid_index()) probe.gid_index = static_cast<std::uint8_t>(in.gid_index());
  probe.across = in.across();
  probe.groups.assign(in.groups().begin(), in.groups().end());
  auto status = decodeExtra(in.extra_v4(), 4, probe);
  if (status) status = decodeExtra(in.extra_v6(), 16, probe);
  if (!status) return tl::unexpected(status.error());
  return probe;
}

Status decodeAddresses(const std::string& bytes, std::size_t width, AddressList& out) {
  if (bytes.size() % width != 0 || bytes.size() / width > kMaxListAddresses) {
    return makeError("plan list", "has a bad length");
  }
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    auto address = IpAddress::fromWire(std::string_view(bytes).substr(at, width));
    if (!address) return tl::unexpected(address.error());
    out.push_back(*address);
  }
  return {};
}

Result<AddressList> decodeBoth(const std::string& v4, const std::string& v6) {
  AddressList all;
  if (auto status = decodeAddresses(v4, 4, all); !status) return tl::unexpected(status.error());
  if (auto status = decodeAddresses(v6, 16, all); !status) return tl::unexpected(status.error());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Result<AddressList> applyUpdate(const wire::AddressListUpdate& update, const AddressList& base) {
  auto added = decodeBoth(update.added_v4(), update.added_v6());
  if (!added) return added;
  auto removed = decodeBoth(update.removed_v4(), update.removed_v6());
  if (!removed) return removed;
  AddressList kept;
  std::set_difference(base.begin(), base.end(), removed->begin(), removed->end(),
                      std::back_inserter(kept));
  AddressList result;
  std::set_union(kept.begin(), kept.end(), added->begin(), added->end(),
                 std::back_inserter(result));
  if (result.size() > kMaxListAddresses) return makeError("plan list", "is too long");
  return result;
}

Status decodeLists(const wire::PlanUpdate& update, const Plan* base, Plan& plan) {
  std::set<std::string> wanted;
  for (const ProbeSpec& probe : plan.probes) {
    wanted.insert({probe.sources, probe.destinations});
    wanted.insert(probe.groups.begin(), probe.groups.end());
  }
  if (base != nullptr) plan.lists = base->lists;
  std::erase_if(plan.lists, [&](const auto& entry) { return !wanted.contains(entry.first); });
  for (const wire::AddressListUpdate& list : update.lists()) {
    if (!wanted.contains(list.name())) return makeError("plan", "has a list that no probe names");
    auto made = applyUpdate(list, list.from_base() ? plan.list(list.name()) : AddressList{});
    if (!made) return tl::unexpected(made.error());
    plan.lists[list.name()] = std::make_shared<const AddressList>(std::move(*made));
  }
  for (const ProbeSpec& probe : plan.probes) {
    if (plan.list(probe.destinations).size() * probe.across > kMaxSampledPairs) {
      return makeError("plan probe '" + probe.name + "'", "samples too many pairs");
    }
  }
  return {};
}

}  // namespace

wire::PlanUpdate encode(const Plan& target, const Plan* base) {
  wire::PlanUpdate update;
  update.set_hash(hash(target));
  update.set_base_hash(base == nullptr ? 0 : hash(*base));
  for (const ProbeSpec& probe : target.probes) *update.add_probes() = encodeProbe(probe);
  for (const auto& [name, list] : target.lists) {
    const bool in_base = base != nullptr && base->lists.contains(name);
    const AddressList& before = in_base ? base->list(name) : AddressList{};
    if (in_base && before == *list) continue;
    wire::AddressListUpdate* out = update.add_lists();
    out->set_name(name);
    out->set_from_base(in_base);
    encodeDifference(before, *list, *out);
  }
  return update;
}

Result<Plan> decode(const wire::PlanUpdate& update, const Plan* base) {
  if (update.base_hash() != 0 && (base == nullptr || hash(*base) != update.base_hash())) {
    return makeError("plan update", "starts from a plan that is not held here");
  }
  if (static_cast<std::size_t>(update.probes_size()) > kMaxProbes) {
    return makeError("plan update", "has more than " + std::to_string(kMaxProbes) + " probes");
  }
  Plan plan;
  for (const wire::ProbeSpec& in : update.probes()) {
    auto probe = decodeProbe(in);
    if (!probe) return tl::unexpected(probe.error());
    plan.probes.push_back(std::move(*probe));
  }
  if (auto status = decodeLists(update, update.base_hash() == 0 ? nullptr : base, plan); !status) {
    return tl::unexpected(status.error());
  }
  if (hash(plan) != update.hash())
    return makeError("plan update", "does not lead to the plan it names");
  return plan;
}

bool validProbeName(std::string_view name) {
  if (name.empty() || name.size() > 64) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

}  // namespace pingloom::plan
