// What the controller says of itself, for people: the pure part of `pingloom status`. The documents
// are those of /api/v1/status, /hosts and /probes and come from outside: what is missing in them is
// shown as "-". Any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace pingloom::cli {

struct StatusReport {
  std::vector<std::string> problems;  // empty: healthy
  std::vector<std::string> lines;     // the whole page, problems included
};

// Wrong is what keeps pingloom from doing its work: agents that are down or never came, a rejected
// pinglist, Redis or the history not written. Loss between hosts is a result, not a problem here.
StatusReport reportStatus(const nlohmann::json& status, const nlohmann::json& hosts,
                          const nlohmann::json& probes);

}  // namespace pingloom::cli
