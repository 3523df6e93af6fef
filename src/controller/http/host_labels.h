// The labels that the pinglist gives hosts, as every endpoint shows them: by address. Any thread.
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

// By label, in the order of their names. Views into the pinglist.
using AddressLabels = std::map<std::string_view, std::string_view>;

// Of the host's address with this label of its own ("" for the only one). The label of one of
// several addresses counts as its rail, unless the host has a label of that name.
AddressLabels labelsAt(const pinglist::Host& host, std::string_view address_label);

// Finds the labels of addresses. The pinglist has to live as long as it.
class HostLabels {
 public:
  explicit HostLabels(const pinglist::Pinglist* pinglist);  // nullptr: there is none

  std::optional<AddressLabels> of(const IpAddress& address) const;  // nullopt: of no host there

 private:
  std::unordered_map<IpAddress, std::pair<const pinglist::Host*, std::string_view>, IpAddressHash>
      places_;
};

}  // namespace pingloom::controller
