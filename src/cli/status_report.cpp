#include "cli/status_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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

const Json& at(const Json& json, const char* pointer) {
  static const Json none;
  const Json::json_pointer path(pointer);
  return json.contains(path) ? json[path] : none;
}

std::string shown(const Json& json, const char* pointer) {
  const Json& value = at(json, pointer);
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  return value.is_null() || value.is_structured() ? "-" : value.dump();
}

bool isTrue(const Json& json, const char* pointer) { return at(json, pointer) == Json(true); }

std::string duration(const Json& json, const char* pointer) {
  const Json& value = at(json, pointer);
  return value.is_number_integer() ? formatDuration(value.get<Nanos>()) : "-";
}

std::string names(const std::vector<std::string>& all) {
  std::vector<std::string> first(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kNamesShown)));
  std::string text = join(first, ", ");
  if (all.size() > kNamesShown) text += fmt::format(" and {} more", all.size() - kNamesShown);
  return text;
}

// Returns e.g. "3 ok, 1 loss"; states without pairs are left out.
std::string stateCounts(const Json& counts) {
  std::vector<std::string> parts;
  for (const std::string_view state : kPairStateNames) {
    const auto count = counts.is_object() ? counts.find(state) : counts.end();
    if (count != counts.end() && count->is_number_unsigned() && *count != 0) {
      parts.push_back(count->dump() + " " + std::string(state));
    }
  }
  return parts.empty() ? "-" : join(parts, ", ");
}

std::string nameOf(const Json& entry) {
  const std::string name = shown(entry, "/name");
  const std::string address = shown(entry, "/address");
  return name == address ? address : name + " (" + address + ")";
}

void pinglistProblems(const Json& status, Lines& problems) {
  if (at(status, "/pinglist/error").is_string()) {
    problems.push_back("the saved pinglist is rejected, the previous one stays in force: " +
                       shown(status, "/pinglist/error"));
  }
}

void agentProblems(const Json& hosts, Lines& problems) {
  std::vector<std::string> down;
  for (const Json& agent : at(hosts, "/hosts")) {
    if (isTrue(agent, "/alive")) continue;
    down.push_back(shown(agent, "/host") + " (last seen " + shown(agent, "/last_seen") + ")");
  }
  if (!down.empty()) {
    problems.push_back(fmt::format("{} agent(s) down: {}", down.size(), names(down)));
  }
  std::vector<std::string> missing;
  for (const Json& entry : at(hosts, "/unregistered")) missing.push_back(nameOf(entry));
  if (!missing.empty()) {
    problems.push_back(fmt::format("{} source(s) of the pinglist without an agent: {}",
                                   missing.size(), names(missing)));
  }
}

void storeProblems(const Json& status, Lines& problems) {
  for (const Json& reason : at(status, "/not_ready")) {
    if (reason.is_string()) problems.push_back(printable(reason.get<std::string>()));
  }
  if (at(status, "/history/error").is_string()) {
    problems.push_back("history is not written: " + shown(status, "/history/error"));
  }
}

void summaryLines(const Json& status, Lines& lines) {
  lines.push_back(
      fmt::format("controller  {} since {}", shown(status, "/version"), shown(status, "/started")));
  lines.push_back(fmt::format("pinglist    {} loaded {}, {} reloads, {} rejections",
                              shown(status, "/pinglist/path"), shown(status, "/pinglist/loaded"),
                              shown(status, "/pinglist/reloads"),
                              shown(status, "/pinglist/rejections")));
  lines.push_back(fmt::format("agents      {} alive of {} known, {} with the plan in force",
                              shown(status, "/agents/alive"), shown(status, "/agents/known"),
                              shown(status, "/agents/plan_current")));
  lines.push_back(fmt::format("redis       {} {}, {} rows written", shown(status, "/redis/target"),
                              isTrue(status, "/redis/connected") ? "connected" : "not connected",
                              shown(status, "/redis/rows_written")));
  lines.push_back(fmt::format("history     {} windows written, {} bytes",
                              shown(status, "/history/windows_written"),
                              shown(status, "/history/bytes")));
  lines.push_back("pairs       " + stateCounts(at(status, "/pairs")));
  for (const Json& warning : at(status, "/pinglist/warnings")) {
    if (warning.is_string())
      lines.push_back("warning     " + printable(warning.get<std::string>()));
  }
}

void probeLines(const Json& probes, Lines& lines) {
  TextTable table({"PROBE", "PROTOCOL", "INTERVAL", "WINDOW", "PAIRS", "STATES"});
  std::vector<TextTable::Cells> rows;
  for (const Json& probe : at(probes, "/probes")) {
    rows.push_back({shown(probe, "/name"), shown(probe, "/protocol"),
                    duration(probe, "/interval_ns"), duration(probe, "/window_ns"),
                    shown(probe, "/pairs"), stateCounts(at(probe, "/states"))});
    table.fit(rows.back());
  }
  if (rows.empty()) return;
  lines.emplace_back();
  lines.push_back(table.header());
  for (const auto& row : rows) lines.push_back(table.line(row));
}

}  // namespace

StatusReport reportStatus(const Json& status, const Json& hosts, const Json& probes) {
  StatusReport report;
  storeProblems(status, report.problems);
  pinglistProblems(status, report.problems);
  agentProblems(hosts, report.problems);
  report.lines.push_back(report.problems.empty() ? "healthy" : "NOT HEALTHY");
  for (const std::string& problem : report.problems) report.lines.push_back("  - " + problem);
  summaryLines(status, report.lines);
  probeLines(probes, report.lines);
  return report;
}

}  // namespace pingloom::cli
