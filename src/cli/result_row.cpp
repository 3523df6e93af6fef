#include "cli/result_row.h"

#include <array>
#include <nlohmann/json.hpp>

#include "cli/text_table.h"
#include "common/duration.h"
#include "common/json_text.h"
#include "common/text.h"
#include "common/time.h"
#include "common/vocabulary.h"

namespace pingloom::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> kTextColumns = {"state", "protocol", "clock", "device"};
constexpr std::array<std::string_view, 8> kCountColumns = {
    "sent", "received", "lost", "refused", "unreachable", "ack_lost", "duplicate", "late"};
constexpr std::array<std::string_view, 4> kParts = {"network", "responder", "prober", "rtt"};
constexpr std::array<std::string_view, 6> kStatistics = {"min", "mean", "p50", "p95", "p99", "max"};

Result<ordered_json> parsed(const ResultRow& row) {
  ordered_json json = ordered_json::parse(row.json, nullptr, false);
  if (!json.is_object()) {
    return makeError("pingloom:latest:" + row.probe + ":" + row.source + " " + row.destination,
                     "the value in Redis is not a JSON object; was it written by something else?");
  }
  return json;
}

// Returns the value if it exists and is printable, otherwise "".
std::string scalar(const ordered_json& object, std::string_view key) {
  if (!object.is_object()) return "";
  const auto found = object.find(std::string(key));
  if (found == object.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_number() ? found->dump() : "";
}

const ordered_json& fieldOf(const ordered_json& object, const std::string& key) {
  static const ordered_json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

// Returns the texts of "because" on one line. Rows of an older controller have none.
std::string reasons(const ordered_json& json) {
  std::vector<std::string> texts;
  for (const ordered_json& text : fieldOf(json, "because")) {
    if (text.is_string()) texts.push_back(text.get<std::string>());
  }
  return join(texts, "; ");
}

std::string quoted(const std::string& value) {
  if (value.find_first_of(",\"\r\n") == std::string::npos) return value;
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + "\"";
}

std::string human(const ordered_json& json, const std::string& part, const char* statistic) {
  const ordered_json& summary = fieldOf(json, part + "_ns");
  if (!summary.is_object()) return "-";
  const ordered_json& value = fieldOf(summary, statistic);
  return value.is_number() ? humanNanos(value.get<Nanos>()) : "-";
}

std::string addressOf(const std::string& field) { return field.substr(0, field.find('#')); }

}  // namespace

Result<std::string> resultJson(const ResultRow& row) {
  const auto json = parsed(row);
  if (!json) return tl::unexpected(json.error());
  ordered_json whole = {
      {"probe", row.probe}, {"source", row.source}, {"destination", addressOf(row.destination)}};
  whole.update(*json);
  return jsonLine(whole);
}

std::string csvHeader() {
  std::string line = "probe,source,destination,start,end";
  for (const auto column : kTextColumns) line.append(",").append(column);
  for (const auto column : kCountColumns) line.append(",").append(column);
  for (const auto reason : kAnomalyNames) line.append(",anomalous_").append(reason);
  for (const auto part : kParts) {
    for (const auto statistic : kStatistics) {
      line.append(",").append(part).append("_").append(statistic).append("_ns");
    }
  }
  return line + ",jitter_ns,path,severity,because";
}

Result<std::string> csvLine(const ResultRow& row) {
  const auto json = parsed(row);
  if (!json) return tl::unexpected(json.error());
  std::string line =
      quoted(row.probe) + "," + quoted(row.source) + "," + quoted(addressOf(row.destination));
  auto add = [&line](const std::string& value) { line += "," + quoted(value); };
  add(scalar(*json, "start"));
  add(scalar(*json, "end"));
  for (const auto column : kTextColumns) add(scalar(*json, column));
  for (const auto column : kCountColumns) add(scalar(*json, column));
  const ordered_json& anomalous = fieldOf(*json, "anomalous");
  for (const auto reason : kAnomalyNames) {
    const std::string count = scalar(anomalous, reason);
    add(count.empty() && anomalous.is_object() ? "0" : count);
  }
  for (const auto part : kParts) {
    const ordered_json& summary = fieldOf(*json, std::string(part) + "_ns");
    for (const auto statistic : kStatistics) add(scalar(summary, statistic));
  }
  add(scalar(*json, "jitter_ns"));
  add(scalar(*json, "path"));
  add(scalar(*json, "severity"));
  add(reasons(*json));
  return line;
}

const std::vector<std::string>& resultTableHeader() {
  static const std::vector<std::string> header = {
      "PROBE",   "SOURCE",  "DESTINATION", "STATE", "SEVERITY",         "SENT",   "RECV", "NET P50",
      "NET P99", "RTT P50", "RTT P99",     "CLOCK", "WINDOW END (UTC)", "BECAUSE"};
  return header;
}

Result<std::vector<std::string>> resultTableCells(const ResultRow& row) {
  const auto json = parsed(row);
  if (!json) return tl::unexpected(json.error());
  const auto cell = [&](std::string_view key) { return orDash(printable(scalar(*json, key))); };
  return std::vector<std::string>{printable(row.probe),
                                  printable(row.source),
                                  printable(row.destination),
                                  cell("state"),
                                  cell("severity"),
                                  cell("sent"),
                                  cell("received"),
                                  human(*json, "network", "p50"),
                                  human(*json, "network", "p99"),
                                  human(*json, "rtt", "p50"),
                                  human(*json, "rtt", "p99"),
                                  cell("clock"),
                                  cell("end"),
                                  printable(reasons(*json))};
}

}  // namespace pingloom::cli
