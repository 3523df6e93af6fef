// The agents that the entries `registered` of a pinglist stand for, as a running controller knows
// them. Blocking; any thread.
#pragma once

#include <boost/program_options/variables_map.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "pinglist/members.h"

namespace pingloom::cli {

// Reads the agents of a controller's answer to /api/v1/hosts.
std::vector<pinglist::Member> membersOf(const nlohmann::json& hosts);

// A pinglist as commands show it.
struct ShownPinglist {
  pinglist::Pinglist pinglist;
  std::vector<std::string> notes;  // sentences about the registered agents
};

// Holds what the controller that the site options name knows of agents.
struct AskedHosts {
  std::string url;
  std::optional<nlohmann::json> hosts;  // its answer to /api/v1/hosts; nullopt if there is none
  std::string why;                      // why there is none
};
// Returns an error only if a site was named.
Result<AskedHosts> askHosts(const boost::program_options::variables_map& values);

// Replaces the entries by these agents. Without an answer the lists stay without them, and a note
// says so.
ShownPinglist withRegistered(pinglist::Pinglist pinglist, const AskedHosts& asked);
// Does the same, but asks only if there are such entries.
Result<ShownPinglist> withRegistered(pinglist::Pinglist pinglist,
                                     const boost::program_options::variables_map& values);

}  // namespace pingloom::cli
