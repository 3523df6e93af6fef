// Counts the remaining bad pairs of a probe by everything that could be at fault. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "controller/verdict/cover.h"

namespace pingloom::controller {

class Tally {
 public:
  struct Address {
    std::uint64_t network_out = 0;  // bad pairs from it that accuse the network
    std::uint64_t network_in = 0;
    std::uint64_t any_out = 0;
    std::uint64_t any_in = 0;
    std::uint64_t cpu_out = 0;  // bad pairs from it that accuse its host's own time
    std::uint64_t cpu_in = 0;
  };
  struct Group {
    std::uint64_t network_all = 0;       // bad pairs with at least one end in the group
    std::uint64_t network_crossing = 0;  // those with exactly one
  };

  Tally(const Places& places, const ProbeEvidence& evidence);

  const std::vector<Address>& addresses() const { return addresses_; }
  const std::vector<std::vector<Group>>& groups() const { return groups_; }  // by label and value

 private:
  void countGroups(const Places& places, const BadPair& pair);

  std::vector<Address> addresses_;
  std::vector<std::vector<Group>> groups_;
};

}  // namespace pingloom::controller
