// The pure part of `pingloom status`: formats the documents of /api/v1/status, /hosts, /probes and
// /incidents.
// They come from outside, so a missing field is shown as "-". Any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace pingloom::cli {

struct StatusReport {
  std::vector<std::string> problems;  // empty when everything is healthy
  std::vector<std::string> lines;     // the whole page, including the problems
};

// A problem is an open incident that no silence hides, and anything that keeps pingloom from
// working: agents that are down or never registered, a rejected pinglist, Redis or history that is
// not written. What is not judged to be an incident, such as a single lost ping, is none.
// `incidents` is null where the controller does not judge.
StatusReport reportStatus(const nlohmann::json& status, const nlohmann::json& hosts,
                          const nlohmann::json& probes, const nlohmann::json& incidents);

}  // namespace pingloom::cli
