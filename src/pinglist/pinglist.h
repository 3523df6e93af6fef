// The operator's pinglist.yaml, parsed: the plan that agents get, and the names and places that
// people see. docs/pinglist.md is its reference. An immutable value; any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "pinglist/thresholds.h"
#include "plan/plan.h"

namespace pingloom::pinglist {

struct Host {
  std::string name;
  std::vector<std::pair<std::string, IpAddress>> addresses;  // label ("" for the only one), address
  std::map<std::string, std::string> labels;                 // rack, rail, anything else
};

struct Pinglist {
  plan::Plan plan;
  std::vector<Thresholds> thresholds;  // of plan.probes, in their order
  std::vector<Host> hosts;
  std::unordered_map<IpAddress, std::string, IpAddressHash> names;  // "gpu-001", "gpu-002/rail1"
  std::vector<std::string> warnings;                                // each with file:line:column

  // The host's name where the pinglist has one, otherwise the address.
  std::string nameOf(const IpAddress& address) const;
};

// Native (version: 1) or PingWeave's form. The error's entity is file:line:column. What is wrong
// and what is odd quote the file, at most kMaxComplaintBytes each: people read them in documents.
constexpr std::size_t kMaxComplaintBytes = 2000;
Result<Pinglist> parse(std::string_view text, std::string_view file);
Result<Pinglist> load(const std::string& path);  // at most 64 MiB

}  // namespace pingloom::pinglist
