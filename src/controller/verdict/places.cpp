#include "controller/verdict/places.h"

#include <algorithm>
#include <map>
#include <utility>

#include "controller/model/host_labels.h"

namespace pingloom::controller {

Places::Places(std::shared_ptr<const GridPlan> plan) : plan_(std::move(plan)) {
  if (plan_->pinglist != nullptr) addHosts();
  for (const ProbeGrid& probe : plan_->probes) {
    auto& sources = sources_.emplace_back();
    for (const IpAddress& address : probe.sources) sources.push_back(add(address));
    auto& destinations = destinations_.emplace_back();
    for (const IpAddress& address : probe.destinations) destinations.push_back(add(address));
  }
  if (plan_->pinglist != nullptr) addLabels();
}

void Places::addHosts() {
  for (const pinglist::Host& host : plan_->pinglist->hosts) {
    const auto number = static_cast<std::uint32_t>(hosts_.size());
    host_numbers_.emplace(host.name, number);
    Host& made = hosts_.emplace_back(Host{host.name, {}, &host});
    for (const auto& [label, address] : host.addresses) {
      const auto at = static_cast<std::uint32_t>(addresses_.size());
      numbers_.emplace(address, at);
      made.addresses.push_back(at);
      addresses_.push_back({address, plan_->nameOf(address), number});
    }
  }
}

std::uint32_t Places::add(const IpAddress& address) {
  const auto [found, fresh] =
      numbers_.emplace(address, static_cast<std::uint32_t>(addresses_.size()));
  if (fresh) {
    const auto host = static_cast<std::uint32_t>(hosts_.size());
    const std::string name = plan_->nameOf(address);
    host_numbers_.emplace(name, host);
    hosts_.push_back({name, {found->second}, nullptr});
    addresses_.push_back({address, name, host});
  }
  return found->second;
}

// A label groups hosts where it has at least two values and fewer values than addresses.
void Places::addLabels() {
  std::map<std::string, std::map<std::string, std::vector<std::uint32_t>>> found;
  for (const Host& host : hosts_) {
    if (host.known == nullptr) continue;
    for (std::size_t i = 0; i < host.addresses.size(); ++i) {
      const std::string& rail = host.known->addresses[i].first;
      for (const auto& [label, value] : labelsAt(*host.known, rail)) {
        found[std::string(label)][std::string(value)].push_back(host.addresses[i]);
      }
    }
  }
  for (const auto& [label, values] : found) {
    if (labels_.size() == kMaxLabels) return;
    if (values.size() < 2 || 2 * values.size() > addresses_.size()) continue;
    Label& made = labels_.emplace_back(Label{label, {}, {}, {}});
    made.of.assign(addresses_.size(), kNone);
    for (const auto& [value, members] : values) {
      for (const std::uint32_t at : members) {
        made.of[at] = static_cast<std::uint32_t>(made.values.size());
      }
      made.values.push_back(value);
      made.sizes.push_back(static_cast<std::uint32_t>(members.size()));
    }
  }
}

std::uint32_t Places::hostNamed(const std::string& name) const {
  const auto found = host_numbers_.find(name);
  return found == host_numbers_.end() ? kNone : found->second;
}

std::uint32_t Places::addressOf(const IpAddress& address) const {
  const auto found = numbers_.find(address);
  return found == numbers_.end() ? kNone : found->second;
}

}  // namespace pingloom::controller
