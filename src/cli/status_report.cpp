#include "cli/status_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/incident_report.h"
#include "cli/json_fields.h"
#include "cli/text_table.h"
#include "common/duration.h"
#include "common/text.h"
#include "common/time.h"
#include "common/vocabulary.h"

namespace pingloom::cli {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

// More names than this help nobody.
constexpr std::size_t kNamesShown = 10;
constexpr std::size_t kIncidentsShown = 5;

bool isTrue(const Json& json, const char* pointer) { return fieldAt(json, pointer) == Json(true); }

bool isPositive(const Json& json, const char* pointer) {
  const Json& value = fieldAt(json, pointer);
  return value.is_number_unsigned() && value != 0U;
}

std::string duration(const Json& json, const char* pointer) {
  const Json& value = fieldAt(json, pointer);
  return value.is_number_integer() ? formatDuration(value.get<Nanos>()) : "-";
}

std::string names(const std::vector<std::string>& all) {
  std::vector<std::string> first(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kNamesShown)));
  std::string text = join(first, ", ");
  if (all.size() > kNamesShown) text += fmt::format(" and {} more", all.size() - kNamesShown);
  return text;
}

// Returns e.g. "3 ok, 1 loss"; names without pairs are left out.
template <std::size_t kCount>
std::string countsOf(const Json& counts, const std::array<std::string_view, kCount>& all) {
  std::vector<std::string> parts;
  for (const std::string_view name : all) {
    const auto count = counts.is_object() ? counts.find(name) : counts.end();
    if (count != counts.end() && count->is_number_unsigned() && *count != 0) {
      parts.push_back(count->dump() + " " + std::string(name));
    }
  }
  return parts.empty() ? "-" : join(parts, ", ");
}

std::string stateCounts(const Json& counts) { return countsOf(counts, kPairStateNames); }
std::string severityCounts(const Json& counts) { return countsOf(counts, kSeverityNames); }

std::string nameOf(const Json& entry) {
  const std::string name = shownAt(entry, "/name");
  const std::string address = shownAt(entry, "/address");
  return name == address ? address : name + " (" + address + ")";
}

void pinglistProblems(const Json& status, Lines& problems) {
  if (fieldAt(status, "/pinglist/error").is_string()) {
    problems.push_back("the saved pinglist is rejected, the previous one stays in force: " +
                       shownAt(status, "/pinglist/error"));
  }
}

void agentProblems(const Json& hosts, Lines& problems) {
  std::vector<std::string> down;
  for (const Json& agent : listAt(hosts, "/hosts")) {
    if (isTrue(agent, "/alive")) continue;
    down.push_back(shownAt(agent, "/host") + " (last seen " + shownAt(agent, "/last_seen") + ")");
  }
  if (!down.empty()) {
    problems.push_back(fmt::format("{} agent(s) down: {}", down.size(), names(down)));
  }
  std::vector<std::string> missing;
  for (const Json& entry : listAt(hosts, "/unregistered")) missing.push_back(nameOf(entry));
  if (!missing.empty()) {
    problems.push_back(fmt::format("{} source(s) of the pinglist without an agent: {}",
                                   missing.size(), names(missing)));
  }
}

// The controller lists the worst first.
void incidentProblems(const Json& incidents, Lines& problems) {
  const std::size_t all = countAttention(incidents);
  std::size_t shown = 0;
  for (const Json& incident : listAt(incidents, "/open")) {
    if (shown == kIncidentsShown) break;
    if (!needsAttention(incident)) continue;
    problems.push_back(
        fmt::format("incident {}: {}", shownAt(incident, "/id"), incidentSummary(incident)));
    ++shown;
  }
  if (all > shown) {
    problems.push_back(
        fmt::format("and {} more incidents; 'pingloom incidents' shows them all", all - shown));
  }
}

// Counts what is open, also what a silence hides.
std::string openCount(const Json& incidents) {
  const Json& open = fieldAt(incidents, "/open");
  if (!open.is_array()) return "-";
  const std::size_t attention = countAttention(incidents);
  std::string text = fmt::format("{} open", open.size());
  if (open.size() > attention) text += fmt::format(", {} silenced", open.size() - attention);
  return text;
}

void storeProblems(const Json& status, Lines& problems) {
  for (const Json& reason : listAt(status, "/not_ready")) {
    if (reason.is_string()) problems.push_back(printable(reason.get<std::string>()));
  }
  if (fieldAt(status, "/history/error").is_string()) {
    problems.push_back("history is not written: " + shownAt(status, "/history/error"));
  }
}

std::string keysLine(const Json& status) {
  if (!isTrue(status, "/keys/in_use")) return "not in use";
  std::string text = shownAt(status, "/keys/authorized") + " authorised";
  const Json& waiting = fieldAt(status, "/keys/waiting");
  if (waiting.is_number_unsigned() && waiting != 0) {
    text += fmt::format(", {} wait; 'pingloom keys pending' shows them", waiting.dump());
  }
  return text;
}

void summaryLines(const Json& status, const Json& incidents, Lines& lines) {
  lines.push_back(fmt::format("controller  {} since {}", shownAt(status, "/version"),
                              shownAt(status, "/started")));
  lines.push_back(
      fmt::format("pinglist    {} loaded {}, {} reloads, {} rejections",
                  shownAt(status, "/pinglist/path"), shownAt(status, "/pinglist/loaded"),
                  shownAt(status, "/pinglist/reloads"), shownAt(status, "/pinglist/rejections")));
  lines.push_back(fmt::format("agents      {} alive of {} known, {} with the plan in force",
                              shownAt(status, "/agents/alive"), shownAt(status, "/agents/known"),
                              shownAt(status, "/agents/plan_current")));
  const Json& moved = fieldAt(status, "/agents/error_counters_moved");
  if (moved.is_number_unsigned() && moved != 0) {
    lines.push_back(
        fmt::format("counters    {} hosts have NICs or ports that counted errors in the last "
                    "5 minutes: /api/v1/hosts, error_counters_moved",
                    moved.get<std::uint64_t>()));
  }
  lines.push_back(fmt::format("redis       {} {}, {} rows written",
                              shownAt(status, "/redis/target"),
                              isTrue(status, "/redis/connected") ? "connected" : "not connected",
                              shownAt(status, "/redis/rows_written")));
  lines.push_back(fmt::format("history     {} windows written, {} bytes",
                              shownAt(status, "/history/windows_written"),
                              shownAt(status, "/history/bytes")));
  lines.push_back("pairs       " + stateCounts(fieldAt(status, "/pairs")));
  lines.push_back("judged      " + severityCounts(fieldAt(status, "/severities")));
  lines.push_back("incidents   " + openCount(incidents));
  if (fieldAt(status, "/keys").is_object()) lines.push_back("keys        " + keysLine(status));
  if (isTrue(status, "/keys/exposed")) {
    lines.emplace_back(
        "warning     WITHOUT KEYS: anybody who reaches the control port can be any agent that has "
        "no key; docs/keys.md says how to change that");
  }
  lines.push_back(
      fmt::format("latency     {} series of histograms", shownAt(status, "/latency/series")));
  if (isPositive(status, "/latency/probes_left_out") ||
      isPositive(status, "/latency/combinations_left_out")) {
    lines.push_back(fmt::format(
        "warning     {} probes and {} combinations of rollup labels have no histogram: the limit "
        "is {} series; roll up by a label with fewer values",
        shownAt(status, "/latency/probes_left_out"),
        shownAt(status, "/latency/combinations_left_out"), shownAt(status, "/latency/max_series")));
  }
  for (const Json& note : listAt(status, "/pinglist/notes")) {
    if (note.is_string()) lines.push_back("note        " + printable(note.get<std::string>()));
  }
  for (const Json& warning : listAt(status, "/pinglist/warnings")) {
    if (warning.is_string())
      lines.push_back("warning     " + printable(warning.get<std::string>()));
  }
}

void probeLines(const Json& probes, Lines& lines) {
  TextTable table({"PROBE", "PROTOCOL", "INTERVAL", "WINDOW", "PAIRS", "STATES", "JUDGED"});
  std::vector<TextTable::Cells> rows;
  for (const Json& probe : listAt(probes, "/probes")) {
    rows.push_back({shownAt(probe, "/name"), shownAt(probe, "/protocol"),
                    duration(probe, "/interval_ns"), duration(probe, "/window_ns"),
                    shownAt(probe, "/pairs"), stateCounts(fieldAt(probe, "/states")),
                    severityCounts(fieldAt(probe, "/severities"))});
    table.fit(rows.back());
  }
  if (rows.empty()) return;
  lines.emplace_back();
  lines.push_back(table.header());
  for (const auto& row : rows) lines.push_back(table.line(row));
}

}  // namespace

StatusReport reportStatus(const Json& status, const Json& hosts, const Json& probes,
                          const Json& incidents) {
  StatusReport report;
  storeProblems(status, report.problems);
  pinglistProblems(status, report.problems);
  agentProblems(hosts, report.problems);
  incidentProblems(incidents, report.problems);
  report.lines.push_back(report.problems.empty() ? "healthy" : "NOT HEALTHY");
  for (const std::string& problem : report.problems) report.lines.push_back("  - " + problem);
  summaryLines(status, incidents, report.lines);
  probeLines(probes, report.lines);
  return report;
}

}  // namespace pingloom::cli
