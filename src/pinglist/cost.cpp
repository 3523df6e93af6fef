#include "pinglist/cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/size.h"
#include "plan/sampling.h"

namespace pingloom::pinglist {
namespace {

constexpr double kSecondsPerDay = 86'400;
constexpr double kSecondsAsTheyCame = 7'200;

double perSecond(Nanos period) {
  return static_cast<double>(kSecond) / static_cast<double>(period);
}

// Sums the rates by host; a host is known by the first of its addresses.
class HostRates {
 public:
  explicit HostRates(const std::vector<Host>& hosts) {
    for (const Host& host : hosts) {
      if (host.addresses.size() < 2) continue;
      for (const auto& [label, address] : host.addresses) {
        first_[address] = host.addresses.front().second;
      }
      names_[host.addresses.front().second] = host.name;
    }
  }

  void add(const IpAddress& address, double pings_per_second) {
    const auto found = first_.find(address);
    rates_[found == first_.end() ? address : found->second] += pings_per_second;
  }

  void writeTo(Cost& cost, const Pinglist& pinglist) const {
    cost.hosts = rates_.size();
    const IpAddress* busiest = nullptr;
    for (const auto& [address, rate] : rates_) {
      cost.pings_per_second += rate;
      // Among equally busy hosts the lowest address wins, so that the same file always names the
      // same host.
      const bool busier = busiest == nullptr
                              ? rate > 0
                              : rate > cost.busiest_pings_per_second ||
                                    (rate == cost.busiest_pings_per_second && address < *busiest);
      if (!busier) continue;
      busiest = &address;
      cost.busiest_pings_per_second = rate;
    }
    if (busiest == nullptr) return;
    const auto name = names_.find(*busiest);
    cost.busiest_host = name == names_.end() ? pinglist.nameOf(*busiest) : name->second;
  }

 private:
  // for hosts with several addresses
  std::unordered_map<IpAddress, IpAddress, IpAddressHash> first_;
  // for hosts with several addresses
  std::unordered_map<IpAddress, std::string, IpAddressHash> names_;
  std::unordered_map<IpAddress, double, IpAddressHash> rates_;
};

void addPairs(const plan::ProbeSpec& probe, std::uint64_t pairs, std::uint32_t paths, Cost& cost) {
  const double rows = static_cast<double>(paths == 1 ? 1 : paths + 1);
  cost.pairs += pairs;
  const double row_rate = static_cast<double>(pairs) * rows * perSecond(probe.window);
  const double minute_rate =
      static_cast<double>(pairs) * rows * perSecond(std::max(probe.window, kMinute));
  cost.rows_per_second += row_rate;
  cost.history_bytes_per_day +=
      row_rate * kHistoryBytesPerRow * kSecondsAsTheyCame +
      minute_rate * kHistoryBytesPerMinute * (kSecondsPerDay - kSecondsAsTheyCame);
}

// Within its group a member probes the others of its address family on one path.
void addSampled(const plan::Plan& plan, const plan::ProbeSpec& probe, HostRates& rates,
                Cost& cost) {
  const auto targets = plan::targetsOf(plan, probe);
  const plan::AddressList& members = plan.list(probe.destinations);
  std::map<std::pair<std::uint32_t, bool>, std::uint64_t> sizes;  // by group and family
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    ++sizes[{targets->groupOf(i), members[i].isV4()}];
  }
  std::uint64_t within = 0;
  std::uint64_t across = 0;
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    const std::uint64_t group =
        sizes[{targets->groupOf(i), members[i].isV4()}] - (probe.self ? 0 : 1);
    const std::uint64_t others = targets->across(i).size();
    within += group;
    across += others;
    rates.add(members[i],
              static_cast<double>(group + others * probe.paths) * perSecond(probe.interval));
  }
  addPairs(probe, within, 1, cost);
  addPairs(probe, across, probe.paths, cost);
}

void addProbe(const plan::Plan& plan, const plan::ProbeSpec& probe, HostRates& rates, Cost& cost) {
  if (probe.across != 0) return addSampled(plan, probe, rates, cost);
  const plan::AddressList& sources = plan.list(probe.sources);
  const plan::AddressList& destinations = plan.list(probe.destinations);
  const double pings = static_cast<double>(probe.paths) * perSecond(probe.interval);
  // IPv4 sorts before IPv6.
  const auto v4 = static_cast<std::uint64_t>(
      std::partition_point(destinations.begin(), destinations.end(),
                           [](const IpAddress& address) { return address.isV4(); }) -
      destinations.begin());
  const bool mesh = probe.sources == probe.destinations;
  std::uint64_t pairs = 0;
  for (const IpAddress& source : sources) {
    std::uint64_t targets = source.isV4() ? v4 : destinations.size() - v4;
    if (!probe.self &&
        (mesh || std::binary_search(destinations.begin(), destinations.end(), source))) {
      --targets;
    }
    pairs += targets;
    rates.add(source, static_cast<double>(targets) * pings);
  }
  if (!mesh) {
    for (const IpAddress& destination : destinations) rates.add(destination, 0);
  }
  addPairs(probe, pairs, probe.paths, cost);
}

}  // namespace

Cost costOf(const Pinglist& pinglist) {
  Cost cost;
  HostRates rates(pinglist.hosts);
  cost.probes = pinglist.plan.probes.size();
  for (const plan::ProbeSpec& probe : pinglist.plan.probes) {
    addProbe(pinglist.plan, probe, rates, cost);
  }
  rates.writeTo(cost, pinglist);
  return cost;
}

std::vector<std::string> beyondLimits(const Cost& cost, const Limits& limits) {
  std::vector<std::string> exceeded;
  if (cost.busiest_pings_per_second > static_cast<double>(limits.max_pings_per_second_per_host)) {
    exceeded.push_back(fmt::format(
        "host {} sends {:.0f} pings/s, more than the limit pings_per_second_per_host = {}",
        cost.busiest_host, cost.busiest_pings_per_second, limits.max_pings_per_second_per_host));
  }
  if (cost.rows_per_second > static_cast<double>(limits.max_rows_per_second)) {
    exceeded.push_back(
        fmt::format("the controller gets {:.0f} rows/s, more than the limit rows_per_second = {}",
                    cost.rows_per_second, limits.max_rows_per_second));
  }
  if (cost.history_bytes_per_day > static_cast<double>(limits.max_history_bytes_per_day)) {
    exceeded.push_back(
        fmt::format("the history takes {} a day, more than the limit history_bytes_per_day = {}",
                    humanBytes(cost.history_bytes_per_day),
                    humanBytes(static_cast<double>(limits.max_history_bytes_per_day))));
  }
  return exceeded;
}

}  // namespace pingloom::pinglist
