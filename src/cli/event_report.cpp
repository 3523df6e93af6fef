#include "cli/event_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/json_fields.h"
#include "cli/text_table.h"

namespace pingloom::cli {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

// The router at the hop that differs; the path may end before it.
std::string routerAt(const Json& change, const char* which) {
  const Json& hop = fieldAt(change, "/hop");
  const Json& routers = listAt(change, which);
  const std::uint64_t number = hop.is_number_unsigned() ? hop.get<std::uint64_t>() : 0;
  if (number == 0 || number > routers.size()) return "the end";
  const Json& router = routers[number - 1];
  const std::string name = textAt(router, "/name");
  if (!name.empty()) return printable(name);
  return fieldAt(router, "/router").is_null() ? "?" : shownAt(router, "/router");
}

std::string flowText(const Json& change) {
  const std::string pair =
      shownAt(change, "/source_name") + " -> " + shownAt(change, "/destination_name");
  return fieldAt(change, "/path") == 0 ? pair : pair + " path " + shownAt(change, "/path");
}

std::string flowsText(const Json& change) {
  if (fieldAt(change, "/flows") == 1) return flowText(change);
  const bool several = fieldAt(change, "/of").is_null();
  return fmt::format("{} flows{}, such as {}", shownAt(change, "/flows"),
                     several ? "" : " from " + shownAt(change, "/of_name"), flowText(change));
}

// What is judged says more than the state of one window.
std::string sideText(const std::string& state, const std::string& severity) {
  return severity == "none" || severity == "ok" ? state : severity;
}

std::string stateText(const Json& event) {
  const std::string before = sideText(shownAt(event, "/from"), shownAt(event, "/severity_from"));
  const std::string after = sideText(shownAt(event, "/to"), shownAt(event, "/severity"));
  if (before != after) return before + " -> " + after;
  return shownAt(event, "/from") + " -> " + shownAt(event, "/to");
}

std::string pairsText(const Json& event) {
  const bool from = !fieldAt(event, "/source").is_null();
  const bool to = !fieldAt(event, "/destination").is_null();
  if (from && to) {
    return shownAt(event, "/source_name") + " -> " + shownAt(event, "/destination_name");
  }
  const std::string count = shownAt(event, "/pairs") + " pairs";
  if (from) return count + " from " + shownAt(event, "/source_name");
  return to ? count + " to " + shownAt(event, "/destination_name") : count;
}

}  // namespace

std::string pathChangeText(const Json& change) {
  return fmt::format("hop {}: {} -> {}", shownAt(change, "/hop"), routerAt(change, "/before"),
                     routerAt(change, "/after"));
}

Lines eventLines(const Json& events, const Json& paths) {
  std::vector<TextTable::Cells> rows;
  for (const Json& each : events) {
    rows.push_back(
        {shownAt(each, "/at"), shownAt(each, "/probe"), stateText(each), pairsText(each)});
  }
  for (const Json& each : paths) {
    rows.push_back(
        {shownAt(each, "/at"), shownAt(each, "/probe"), pathChangeText(each), flowsText(each)});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.front() < b.front(); });
  if (rows.empty()) return {"none"};
  TextTable table({"UTC", "PROBE", "CHANGE", "PAIRS OR FLOWS"});
  for (const auto& row : rows) table.fit(row);
  Lines lines = {table.header()};
  for (const auto& row : rows) lines.push_back(table.line(row));
  return lines;
}

Lines pathHistoryLines(const Json& changes) {
  Lines lines;
  for (const Json& change : changes) {
    const std::string flow = fieldAt(change, "/flows") == 1
                                 ? "path " + shownAt(change, "/path")
                                 : "maybe this pair: " + flowsText(change);
    lines.insert(lines.begin(),
                 fmt::format("  {}  {}  {}", shownAt(change, "/at"), pathChangeText(change), flow));
  }
  return lines;
}

}  // namespace pingloom::cli
