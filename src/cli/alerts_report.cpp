#include "cli/alerts_report.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/text_table.h"

namespace pingloom::cli {
namespace {

using AlertsJson = nlohmann::json;

std::string alertCell(const AlertsJson& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) return orDash("");
  const AlertsJson& value = object[key];
  if (value.is_string()) return orDash(printable(value.get<std::string>()));
  if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
  return orDash("");
}

// Appends what came back, line by line.
void appendAnswer(const AlertsJson& place, std::vector<std::string>& lines) {
  if (!place.is_object() || !place.contains("answer") || !place["answer"].is_string()) return;
  std::istringstream answer(place["answer"].get<std::string>());
  for (std::string line; std::getline(answer, line);) lines.push_back("  " + printable(line));
}

const AlertsJson& alertList(const AlertsJson& answer, const char* key) {
  static const AlertsJson none = AlertsJson::array();
  return answer.is_object() && answer.contains(key) && answer[key].is_array() ? answer[key] : none;
}

}  // namespace

std::vector<std::string> reportAlerts(const AlertsJson& answer) {
  const AlertsJson& targets = alertList(answer, "targets");
  if (targets.empty()) return {"no targets; 'alerts' of the controller's configuration has them"};
  TextTable table({"NAME", "KIND", "DELIVERED", "FAILED", "DROPPED", "WAITING", "LAST DELIVERED",
                   "LAST ERROR"});
  std::vector<TextTable::Cells> rows;
  for (const AlertsJson& target : targets) {
    TextTable::Cells cells;
    for (const char* key : {"name", "kind", "delivered", "failed", "dropped", "waiting",
                            "last_delivered", "last_error"}) {
      cells.push_back(alertCell(target, key));
    }
    table.fit(cells);
    rows.push_back(std::move(cells));
  }
  std::vector<std::string> lines = {table.header()};
  for (const TextTable::Cells& cells : rows) lines.push_back(table.line(cells));
  return lines;
}

std::vector<std::string> reportAlertTest(const AlertsJson& answer) {
  std::vector<std::string> lines;
  for (const AlertsJson& place : alertList(answer, "places")) {
    const std::string error = alertCell(place, "error");
    const std::string status = alertCell(place, "status");
    std::string line = alertCell(place, "place") + ": ";
    if (wasDelivered(place)) {
      line += "delivered" + (status == orDash("") ? "" : ", " + status);
    } else {
      line += "NOT delivered: " + error;
    }
    lines.push_back(std::move(line));
    appendAnswer(place, lines);
  }
  return lines;
}

bool wasDelivered(const AlertsJson& answer) {
  return answer.is_object() && answer.contains("delivered") && answer["delivered"] == true;
}

}  // namespace pingloom::cli
