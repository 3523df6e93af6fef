#include "cli/controllers_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/json_fields.h"
#include "cli/text_table.h"
#include "common/time.h"

namespace pingloom::cli {
namespace {

std::string secondsAt(const nlohmann::json& object, const char* pointer) {
  const nlohmann::json& value = fieldAt(object, pointer);
  if (!value.is_number_integer()) return orDash("");
  return fmt::format("{:.1f} s",
                     static_cast<double>(value.get<std::int64_t>()) / static_cast<double>(kSecond));
}

// A controller of an earlier version does not say so.
bool isShown(const nlohmann::json& member) { return fieldAt(member, "/shown") != false; }
bool leadsAt(const nlohmann::json& member) { return fieldAt(member, "/leader") == true; }

}  // namespace

std::vector<std::string> reportControllers(const nlohmann::json& answer) {
  if (fieldAt(answer, "/role") == "alone") {
    return {"this controller works alone; 'cluster' of its configuration lets it share a history"};
  }
  TextTable table({"NAME", "ROLE", "AGENTS", "LAG", "LEASE LEFT", "SHOWN", "CONTROL", "HTTP"});
  std::vector<TextTable::Cells> rows;
  for (const nlohmann::json& member : listAt(answer, "/controllers")) {
    TextTable::Cells cells = {shownAt(member, "/name"),
                              leadsAt(member) ? "leader" : "follower",
                              shownAt(member, "/agents"),
                              secondsAt(member, "/lag_ns"),
                              secondsAt(member, "/lease_left_ns"),
                              isShown(member) ? "yes" : "no",
                              shownAt(member, "/address"),
                              shownAt(member, "/http")};
    table.fit(cells);
    rows.push_back(std::move(cells));
  }
  std::vector<std::string> lines = {table.header()};
  for (const TextTable::Cells& cells : rows) lines.push_back(table.line(cells));
  const nlohmann::json& members = listAt(answer, "/controllers");
  if (std::none_of(members.begin(), members.end(), leadsAt)) lines.emplace_back("NOBODY LEADS");
  for (const nlohmann::json& member : members) {
    if (isShown(member)) continue;
    lines.push_back(fmt::format("{} does not show what the agents of {} report",
                                shownAt(answer, "/name"), shownAt(member, "/name")));
  }
  const std::string error = printable(textAt(answer, "/error"));
  if (!error.empty()) lines.push_back(fmt::format("{}: {}", shownAt(answer, "/name"), error));
  return lines;
}

bool controllersHealthy(const nlohmann::json& answer) {
  const nlohmann::json& role = fieldAt(answer, "/role");
  if (role == "alone") return true;
  const nlohmann::json& members = listAt(answer, "/controllers");
  const bool led = std::any_of(members.begin(), members.end(), leadsAt);
  return led && (role == "leader" || role == "follower") && fieldAt(answer, "/error").is_null();
}

}  // namespace pingloom::cli
