#include "controller/model/host_labels.h"

namespace pingloom::controller {

AddressLabels labelsAt(const pinglist::Host& host, std::string_view address_label) {
  AddressLabels labels(host.labels.begin(), host.labels.end());
  if (!address_label.empty()) labels.emplace("rail", address_label);
  return labels;
}

HostLabels::HostLabels(const pinglist::Pinglist* pinglist) {
  if (pinglist == nullptr) return;
  for (const pinglist::Host& host : pinglist->hosts) {
    for (const auto& [label, address] : host.addresses) places_[address] = {&host, label};
  }
}

std::optional<AddressLabels> HostLabels::of(const IpAddress& address) const {
  const auto found = places_.find(address);
  if (found == places_.end()) return std::nullopt;
  return labelsAt(*found->second.first, found->second.second);
}

}  // namespace pingloom::controller
