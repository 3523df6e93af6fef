// Numbers the addresses, hosts and groups of a plan, so that culprits can be counted in arrays.
// Immutable; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "controller/model/board.h"

namespace pingloom::controller {

class Places {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;
  // Only this many labels form groups. A label needs at least two values, and at most half as many
  // as there are addresses.
  static constexpr std::size_t kMaxLabels = 8;

  struct Address {
    IpAddress address;
    std::string name;
    std::uint32_t host = 0;
  };
  struct Host {
    std::string name;
    std::vector<std::uint32_t> addresses;
    const pinglist::Host* known = nullptr;  // nullptr: the pinglist has only its address
  };
  struct Label {
    std::string name;
    std::vector<std::string> values;
    std::vector<std::uint32_t> of;     // the value of each address; kNone: none
    std::vector<std::uint32_t> sizes;  // the number of addresses with each value
  };

  Places() = default;
  explicit Places(std::shared_ptr<const GridPlan> plan);

  const GridPlan& plan() const { return *plan_; }
  const std::vector<Address>& addresses() const { return addresses_; }
  const std::vector<Host>& hosts() const { return hosts_; }
  const std::vector<Label>& labels() const { return labels_; }
  // The numbers of a probe's sources and destinations.
  const std::vector<std::uint32_t>& sources(std::size_t probe) const { return sources_[probe]; }
  const std::vector<std::uint32_t>& destinations(std::size_t probe) const {
    return destinations_[probe];
  }
  std::uint32_t hostNamed(const std::string& name) const;   // kNone: there is none
  std::uint32_t addressOf(const IpAddress& address) const;  // likewise

 private:
  void addHosts();
  std::uint32_t add(const IpAddress& address);
  void addLabels();

  std::shared_ptr<const GridPlan> plan_ = std::make_shared<GridPlan>();
  std::vector<Address> addresses_;
  std::vector<Host> hosts_;
  std::vector<Label> labels_;
  std::vector<std::vector<std::uint32_t>> sources_;
  std::vector<std::vector<std::uint32_t>> destinations_;
  std::unordered_map<IpAddress, std::uint32_t, IpAddressHash> numbers_;
  std::unordered_map<std::string, std::uint32_t> host_numbers_;
};

}  // namespace pingloom::controller
