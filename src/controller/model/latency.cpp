#include "controller/model/latency.h"

#include <algorithm>
#include <map>

#include "controller/model/board.h"
#include "controller/model/host_labels.h"

namespace pingloom::controller {
namespace {

// The addresses that have one value of a label, by family, as far as pairs depend on them.
struct Members {
  struct Family {
    IpAddress first;
    bool any = false;
    bool several = false;
  };
  std::array<Family, 2> families;
  std::uint16_t number = 0;  // 0: no combination with it fits

  void add(const IpAddress& address) {
    Family& family = families[address.isV4() ? 0 : 1];
    family.several = family.any;
    if (!family.any) family.first = address;
    family.any = true;
  }
};
using Values = std::map<std::string_view, Members>;

bool havePair(const Members& sources, const Members& destinations, bool self) {
  for (std::size_t i = 0; i < sources.families.size(); ++i) {
    const Members::Family& from = sources.families[i];
    const Members::Family& to = destinations.families[i];
    if (!from.any || !to.any) continue;
    if (self || from.several || to.several || from.first != to.first) return true;
  }
  return false;
}

// Returns the value of each address, or "".
std::vector<std::string_view> valuesAt(const plan::AddressList& list, const std::string& label,
                                       const HostLabels& hosts) {
  std::vector<std::string_view> made;
  made.reserve(list.size());
  for (const IpAddress& address : list) {
    const auto labels = hosts.of(address);
    const auto found = labels ? labels->find(label) : AddressLabels::const_iterator();
    made.push_back(labels && found != labels->end() ? found->second : std::string_view());
  }
  return made;
}

Values gather(const plan::AddressList& list, const std::vector<std::string_view>& values) {
  Values made;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!values[i].empty()) made[values[i]].add(list[i]);
  }
  return made;
}

std::vector<std::uint16_t> numbersOf(const std::vector<std::string_view>& values,
                                     const Values& known) {
  std::vector<std::uint16_t> made;
  made.reserve(values.size());
  for (const std::string_view value : values) {
    made.push_back(value.empty() ? 0 : known.at(value).number);
  }
  return made;
}

// Chooses the combinations of a probe, at most `room` of them.
void choose(const ProbeGrid& grid, const HostLabels& hosts, std::size_t room,
            LatencyShape::Probe& probe) {
  const auto from = valuesAt(grid.sources, probe.label, hosts);
  const auto to = valuesAt(grid.destinations, probe.label, hosts);
  Values sources = gather(grid.sources, from);
  Values destinations = gather(grid.destinations, to);
  std::vector<std::pair<std::uint16_t, std::uint16_t>> places;
  std::uint16_t source_values = 1;
  std::uint16_t destination_values = 1;
  std::size_t looked_at = 0;
  for (auto& [source, source_members] : sources) {
    for (auto& [destination, members] : destinations) {
      if (places.size() == room) break;
      ++looked_at;
      if (!havePair(source_members, members, grid.spec.self)) continue;
      if (source_members.number == 0) source_members.number = source_values++;
      if (members.number == 0) members.number = destination_values++;
      places.emplace_back(source_members.number, members.number);
      probe.combinations.push_back({std::string(source), std::string(destination)});
    }
  }
  probe.left_out = sources.size() * destinations.size() - looked_at;
  probe.sources = numbersOf(from, sources);
  probe.destinations = numbersOf(to, destinations);
  probe.values = destination_values;
  probe.cells.assign(std::size_t{source_values} * destination_values, 0);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto [source, destination] = places[i];
    probe.cells[source * probe.values + destination] = static_cast<std::uint16_t>(i + 1);
  }
}

}  // namespace

void LatencyHistogram::add(const LatencyHistogram& other) {
  for (std::size_t i = 0; i < buckets.size(); ++i) buckets[i] += other.buckets[i];
  if (__builtin_add_overflow(sum_ns, other.sum_ns, &sum_ns)) sum_ns = UINT64_MAX;
}

std::size_t LatencyShape::Probe::histograms() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < kLatencyPartNames.size(); ++i) count += hasPart(protocol, i) ? 1 : 0;
  return count;
}

LatencyShape::LatencyShape(const GridPlan& plan) {
  for (std::size_t i = 0; i < plan.probes.size(); ++i) {
    const plan::ProbeSpec& spec = plan.probes[i].spec;
    Probe& probe = probes.emplace_back();
    probe.name = spec.name;
    probe.protocol = spec.protocol;
    probe.label = plan.probes[i].rollup;
    const std::size_t needed = probe.histograms() * kSeriesPerHistogram;
    probe.shown = series + needed <= kMaxSeries;
    series += probe.shown ? needed : 0;
    probes_left_out += probe.shown ? 0 : 1;
  }
  const HostLabels hosts(plan.pinglist.get());
  for (std::size_t i = 0; i < probes.size(); ++i) {
    Probe& probe = probes[i];
    if (probe.label.empty()) continue;
    const std::size_t needed = probe.histograms() * kSeriesPerHistogram;
    choose(plan.probes[i], hosts, (kMaxSeries - series) / needed, probe);
    series += probe.combinations.size() * needed;
    combinations_left_out += probe.left_out;
  }
}

}  // namespace pingloom::controller
