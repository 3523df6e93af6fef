#include "controller/http/csv.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "http/media_type.h"

namespace pingloom::controller {
namespace {

using Json = nlohmann::ordered_json;

std::string plainText(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// Collects lines and finds further columns on the way, because objects omit unmeasured members.
class Table {
 public:
  explicit Table(std::string_view columns) {
    while (!columns.empty()) {
      const std::size_t end = std::min(columns.find(','), columns.size());
      columnOf(std::string(columns.substr(0, end)));
      columns.remove_prefix(std::min(end + 1, columns.size()));
    }
  }

  void add(const Json& object) {
    lines_.emplace_back();
    take(object, "");
  }

  std::string text() const {
    std::string out;
    for (const std::string& name : names_) {
      if (!out.empty()) out += ',';
      appendCsvField(out, name);
    }
    out += "\r\n";
    for (const auto& line : lines_) {
      for (std::size_t column = 0; column < names_.size(); ++column) {
        if (column != 0) out += ',';
        const auto field = line.find(column);
        if (field != line.end()) appendCsvField(out, field->second);
      }
      out += "\r\n";
    }
    return out;
  }

 private:
  void take(const Json& object, const std::string& prefix) {
    for (const auto& [key, value] : object.items()) {
      if (value.is_object()) {
        take(value, prefix + key + ".");
        continue;
      }
      const std::size_t column = columnOf(prefix + key);  // null makes a column too
      if (value.is_null()) continue;
      lines_.back()[column] = plainText(value);
    }
  }

  std::size_t columnOf(const std::string& name) {
    const auto [known, added] = columns_.emplace(name, names_.size());
    if (added) names_.push_back(name);
    return known->second;
  }

  std::vector<std::string> names_;
  std::map<std::string, std::size_t> columns_;
  std::vector<std::map<std::size_t, std::string>> lines_;  // by column
};

// Appends a line with name and value for each member.
void addMembers(const Json& object, const std::string& prefix, std::string& out) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object()) {
      addMembers(value, prefix + key + ".", out);
      continue;
    }
    appendCsvField(out, prefix + key);
    out += ',';
    appendCsvField(out, plainText(value));
    out += "\r\n";
  }
}

std::string csvOf(const Json& json, const CsvTable& form) {
  if (form.array == kMembers) {
    std::string out = std::string(form.columns) + "\r\n";
    addMembers(json, "", out);
    return out;
  }
  Table table(form.columns);
  if (form.array.empty()) {
    table.add(json);
  } else {
    for (const Json& object : json.at(std::string(form.array))) table.add(object);
  }
  return table.text();
}

http::Response converted(http::Response response, const CsvTable& form) {
  if (response.status != 200) return response;
  response.body = csvOf(Json::parse(response.body), form);
  response.content_type = kCsvType;
  return response;
}

// This runs on a thread where nothing else catches what a shortage of memory throws.
http::Response convertedOrSaid(http::Response response, const CsvTable& table) {
  try {
    return converted(std::move(response), table);
  } catch (const std::exception& failure) {
    return http::errorResponse(500,
                               std::string("cannot convert the answer to CSV: ") + failure.what());
  }
}

}  // namespace

tl::expected<bool, http::Response> wantsCsv(const http::Request& request) {
  const auto format = request.query.find("format");
  if (format == request.query.end()) {
    return http::prefers(request.accept, "text/csv", "application/json");
  }
  if (format->second == "json") return false;
  if (format->second == "csv") return true;
  return tl::unexpected(http::errorResponse(400, "the parameter 'format' must be json or csv"));
}

void appendCsvField(std::string& out, std::string_view text) {
  constexpr std::string_view kFormula = "=+-@\t\r";
  const bool formula = !text.empty() && kFormula.find(text.front()) != std::string_view::npos;
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    if (formula) out += '\'';
    out += text;
    return;
  }
  out += formula ? "\"'" : "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

http::Answer asCsv(http::Answer answer, const CsvTable& table) {
  if (auto* now = std::get_if<http::Response>(&answer)) return converted(std::move(*now), table);
  return http::Later(
      [later = std::get<http::Later>(std::move(answer)), table](http::Respond respond) {
        later([respond = std::move(respond), table](http::Response response) {
          respond(convertedOrSaid(std::move(response), table));
        });
      });
}

}  // namespace pingloom::controller
