// Finds the labels of an address in the pinglist, for all endpoints. Any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "common/address.h"
#include "pinglist/pinglist.h"

namespace pingloom::controller {

// Values by label, in the order of the labels' names. The views are into the pinglist.
using AddressLabels = std::map<std::string_view, std::string_view>;

// Returns the labels of one of the host's addresses. `address_label` is the address's own label (""
// for an only address); it counts as the label `rail`, unless the host has a label of that name.
AddressLabels labelsAt(const pinglist::Host& host, std::string_view address_label);

// Finds the labels of addresses. The pinglist has to outlive it.
class HostLabels {
 public:
  explicit HostLabels(const pinglist::Pinglist* pinglist);  // nullptr: no pinglist is in force

  // Returns nullopt where the address is no host's.
  std::optional<AddressLabels> of(const IpAddress& address) const;

 private:
  std::unordered_map<IpAddress, std::pair<const pinglist::Host*, std::string_view>, IpAddressHash>
      places_;
};

}  // namespace pingloom::controller
