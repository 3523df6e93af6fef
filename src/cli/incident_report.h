// The pure part of `pingloom incidents`: formats the documents of /api/v1/incidents. They come from
// outside, so a missing member is shown as "-", and nothing in them controls the terminal. Any
// thread.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pingloom::cli {

// Returns "very slow host gpu-3: SENTENCE", with a note if it is acknowledged or silenced.
std::string incidentSummary(const nlohmann::json& incident);

// Returns a table of an array of incidents: its header and one line for each; "none" without any.
std::vector<std::string> incidentTable(const nlohmann::json& incidents);

// Returns everything that is known about one incident.
std::vector<std::string> incidentDetails(const nlohmann::json& incident);

// Returns whether the incident is open and no silence hides it.
bool needsAttention(const nlohmann::json& incident);

// Returns how many incidents of /api/v1/incidents need attention.
std::size_t countAttention(const nlohmann::json& document);

// What happened to an incident between two answers.
struct IncidentChange {
  std::string what;  // "open", "changed" or "closed"
  nlohmann::json incident;
};

// Finds the changes between one answer of /api/v1/incidents and the next one. One thread.
class IncidentChanges {
 public:
  std::vector<IncidentChange> of(const nlohmann::json& document);

 private:
  std::map<std::string, nlohmann::json> known_;  // by id
};

}  // namespace pingloom::cli
