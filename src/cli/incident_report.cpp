#include "cli/incident_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/json_fields.h"
#include "cli/text_table.h"
#include "common/text.h"

namespace pingloom::cli {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

std::string pairsOf(const Json& incident) {
  return shownAt(incident, "/pairs/bad") + " of " + shownAt(incident, "/pairs/judged");
}

// Returns " (acknowledged by ada, silenced by 3)", or "".
std::string notesOn(const Json& incident) {
  Lines notes;
  if (fieldAt(incident, "/acknowledged").is_object()) {
    notes.push_back("acknowledged by " + shownAt(incident, "/acknowledged/by"));
  }
  if (!fieldAt(incident, "/silenced_by").is_null()) {
    notes.push_back("silenced by " + shownAt(incident, "/silenced_by"));
  }
  return notes.empty() ? "" : " (" + join(notes, ", ") + ")";
}

// Appends a heading and a table, or nothing if there are no rows.
void appendTable(const std::string& heading, TextTable table,
                 const std::vector<TextTable::Cells>& rows, Lines& lines) {
  if (rows.empty()) return;
  for (const TextTable::Cells& row : rows) table.fit(row);
  lines.emplace_back();
  lines.push_back(heading);
  lines.push_back("  " + table.header());
  for (const TextTable::Cells& row : rows) lines.push_back("  " + table.line(row));
}

void appendEvidence(const Json& incident, Lines& lines) {
  std::vector<TextTable::Cells> rows;
  for (const Json& pair : listAt(incident, "/evidence")) {
    rows.push_back({shownAt(pair, "/probe"), shownAt(pair, "/source_name"),
                    shownAt(pair, "/destination_name"), shownAt(pair, "/state"),
                    shownAt(pair, "/severity"), shownAt(pair, "/because")});
  }
  appendTable("the worst pairs:",
              TextTable({"PROBE", "SOURCE", "DESTINATION", "STATE", "SEVERITY", "BECAUSE"}), rows,
              lines);
}

void appendCounters(const Json& incident, Lines& lines) {
  std::vector<TextTable::Cells> rows;
  for (const Json& moved : listAt(incident, "/counters")) {
    rows.push_back({shownAt(moved, "/host"), shownAt(moved, "/device"), shownAt(moved, "/port"),
                    shownAt(moved, "/counter"), "+" + shownAt(moved, "/moved"),
                    shownAt(moved, "/since")});
  }
  appendTable("counters that moved around the opening:",
              TextTable({"HOST", "DEVICE", "PORT", "COUNTER", "MOVED", "SINCE (UTC)"}), rows,
              lines);
}

void appendHistory(const Json& incident, Lines& lines) {
  std::vector<TextTable::Cells> rows;
  for (const Json& past : listAt(incident, "/history")) {
    rows.push_back({shownAt(past, "/at"), shownAt(past, "/severity"), shownAt(past, "/sentence")});
  }
  appendTable("how it went:", TextTable({"TIME (UTC)", "SEVERITY", "SENTENCE"}), rows, lines);
}

std::string candidatesOf(const Json& incident) {
  Lines names;
  for (const Json& other : listAt(incident, "/candidates")) {
    names.push_back(shownAt(other, "/kind") + " " + shownAt(other, "/culprit"));
  }
  return join(names, ", ");
}

std::string labelsOf(const Json& incident) {
  Lines labels;
  const Json& all = fieldAt(incident, "/labels");
  if (!all.is_object()) return "";
  for (const auto& [label, value] : all.items()) {
    if (value.is_string()) labels.push_back(printable(label + "=" + value.get<std::string>()));
  }
  return join(labels, ", ");
}

std::string probesOf(const Json& incident) {
  Lines probes;
  for (const Json& probe : listAt(incident, "/probes")) probes.push_back(shownAt(probe, ""));
  return join(probes, ", ");
}

bool isClosed(const Json& incident) { return !fieldAt(incident, "/closed").is_null(); }

// Compares what is worth a line; the sentence has numbers that change all the time.
bool alike(const Json& a, const Json& b) {
  constexpr std::array<const char*, 4> kMembers = {"/severity", "/culprit", "/acknowledged",
                                                   "/silenced_by"};
  return std::all_of(kMembers.begin(), kMembers.end(),
                     [&](const char* member) { return fieldAt(a, member) == fieldAt(b, member); });
}

}  // namespace

std::string incidentSummary(const Json& incident) {
  return fmt::format("{} {} {}: {}{}", shownAt(incident, "/severity"), shownAt(incident, "/kind"),
                     shownAt(incident, "/culprit"), shownAt(incident, "/sentence"),
                     notesOn(incident));
}

Lines incidentTable(const Json& incidents) {
  TextTable table({"ID", "SINCE (UTC)", "SEVERITY", "KIND", "CULPRIT", "PAIRS", "SENTENCE"});
  std::vector<TextTable::Cells> rows;
  for (const Json& incident : listAt(incidents, "")) {
    if (!incident.is_object()) continue;
    rows.push_back({shownAt(incident, "/id"), shownAt(incident, "/opened"),
                    shownAt(incident, "/severity"), shownAt(incident, "/kind"),
                    shownAt(incident, "/culprit"), pairsOf(incident),
                    shownAt(incident, "/sentence") + notesOn(incident)});
    table.fit(rows.back());
  }
  if (rows.empty()) return {"none"};
  Lines lines = {table.header()};
  for (const TextTable::Cells& row : rows) lines.push_back(table.line(row));
  return lines;
}

Lines incidentDetails(const Json& incident) {
  Lines lines;
  const auto add = [&lines](std::string_view what, const std::string& value) {
    if (!value.empty() && value != "-") lines.push_back(fmt::format("{:<13} {}", what, value));
  };
  lines.push_back(shownAt(incident, "/sentence"));
  lines.emplace_back();
  add("incident", shownAt(incident, "/id"));
  add("severity", shownAt(incident, "/severity"));
  add("culprit", shownAt(incident, "/kind") + " " + shownAt(incident, "/culprit"));
  add("figure", shownAt(incident, "/figure"));
  add("since", shownAt(incident, "/opened"));
  add("updated", shownAt(incident, "/updated"));
  add("closed", shownAt(incident, "/closed"));
  add("flaps", shownAt(incident, "/flaps"));
  add("pairs", pairsOf(incident));
  add("probes", probesOf(incident));
  add("labels", labelsOf(incident));
  if (fieldAt(incident, "/acknowledged").is_object()) {
    add("acknowledged", fmt::format("by {} at {}: {}", shownAt(incident, "/acknowledged/by"),
                                    shownAt(incident, "/acknowledged/at"),
                                    shownAt(incident, "/acknowledged/comment")));
  }
  add("silenced by", shownAt(incident, "/silenced_by"));
  add("or it is", candidatesOf(incident));
  add("to tell", shownAt(incident, "/tell"));
  appendEvidence(incident, lines);
  appendCounters(incident, lines);
  appendHistory(incident, lines);
  return lines;
}

bool needsAttention(const Json& incident) {
  return incident.is_object() && !isClosed(incident) && fieldAt(incident, "/silenced_by").is_null();
}

std::size_t countAttention(const Json& document) {
  const Json& open = listAt(document, "/open");
  return static_cast<std::size_t>(std::count_if(open.begin(), open.end(), needsAttention));
}

std::vector<IncidentChange> IncidentChanges::of(const Json& document) {
  std::vector<IncidentChange> changes;
  std::map<std::string, Json> now;
  for (const Json& incident : listAt(document, "/open")) {
    const std::string id = textAt(incident, "/id");
    const auto before = known_.find(id);
    if (before == known_.end()) {
      changes.push_back({"open", incident});
    } else if (!alike(before->second, incident)) {
      changes.push_back({"changed", incident});
    }
    now[id] = incident;
  }
  for (const auto& [id, incident] : known_) {
    if (!now.contains(id)) changes.push_back({"closed", incident});
  }
  known_ = std::move(now);
  return changes;
}

}  // namespace pingloom::cli
