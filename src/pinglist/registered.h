// The list entry `registered`: every agent that has registered with the controller, so that a mesh
// forms without an edit. The file only says which agents count; the controller replaces the entry
// by their addresses (members.h). Plain values; any thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "common/yaml.h"

namespace pingloom::pinglist {

// A network such as 10.1.0.0/16.
struct Network {
  IpAddress first;
  unsigned bits = 0;  // the length of the prefix

  static Result<Network> parse(std::string_view text);
  bool contains(const IpAddress& address) const;
  bool operator==(const Network&) const = default;
};

// Which registered agents an entry stands for, and which of their addresses.
struct RegisteredFilter {
  static constexpr std::size_t kMaxAgents = 65'536;
  static constexpr std::size_t kMaxLabels = 16;
  static constexpr std::size_t kMaxNetworks = 64;

  std::size_t max = 1000;                     // agents; those that registered first count
  std::map<std::string, std::string> labels;  // as `hosts:` gives them; the agent has all of these
  std::vector<Network> within;                // empty: any network
  bool all_addresses = false;                 // otherwise the first of each agent
  Nanos forget = 24 * kHour;  // an agent that has been away for longer does not count any more

  bool operator==(const RegisteredFilter&) const = default;
};

constexpr std::string_view kRegistered = "registered";

// Reads `registered`, or `{ registered: { max: 2000, labels: { rack: r1 } } }`.
Result<RegisteredFilter> readRegistered(const yaml::Node& entry);

}  // namespace pingloom::pinglist
