#include "cli/path_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/event_report.h"
#include "cli/json_fields.h"
#include "cli/text_table.h"

namespace pingloom::cli {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

std::string microseconds(const Json& hop) {
  const Json& rtt = fieldAt(hop, "/rtt_ns");
  if (!rtt.is_number_unsigned()) return "";
  return fmt::format(" ({:.1f} us)", static_cast<double>(rtt.get<std::uint64_t>()) / 1000);
}

std::string hopText(const Json& hop) {
  if (fieldAt(hop, "/router").is_null()) return "?";
  const std::string router = shownAt(hop, "/router");
  const std::string name = textAt(hop, "/name");
  return (name.empty() ? router : printable(name) + " " + router) + microseconds(hop);
}

std::string hopsText(const Json& trace) {
  std::string text;
  for (const Json& hop : listAt(trace, "/hops")) {
    text += (text.empty() ? "" : " > ") + hopText(hop);
  }
  return text.empty() ? "no router answered" : text;
}

bool isOneConnection(const Json& trace) { return fieldAt(trace, "/source_port").is_number(); }

std::string headText(const Json& known) {
  const std::string end = shownAt(known, "/end");
  const std::string state = shownAt(known, "/state") + (end == "reached" ? "" : " (" + end + ")");
  if (isOneConnection(known)) {
    return fmt::format("  connection from port {}  {}, traced {}", shownAt(known, "/source_port"),
                       state, shownAt(known, "/traced"));
  }
  return fmt::format("  path {}  {}, since {}, traced {}", shownAt(known, "/path"), state,
                     shownAt(known, "/since"), shownAt(known, "/traced"));
}

void add(Lines& lines, const Json& known) {
  lines.push_back(headText(known));
  lines.push_back("    " + hopsText(known));
  const Json& broken = fieldAt(known, "/broken");
  if (broken.is_object()) {
    lines.push_back(fmt::format("    at {} nothing answered behind: {}", shownAt(broken, "/traced"),
                                hopsText(broken)));
  }
  const Json& before = listAt(known, "/before");
  if (isOneConnection(known)) {
    for (const Json& earlier : before) {
      lines.push_back(headText(earlier));
      lines.push_back("    " + hopsText(earlier));
    }
  } else if (!before.empty()) {
    lines.push_back(fmt::format("    before ({} changes): {}", shownAt(known, "/changes"),
                                hopsText(before.front())));
  }
}

void addDirection(Lines& lines, const Json& list, std::optional<std::uint32_t> label) {
  const std::size_t before = lines.size();
  for (const Json& known : list) {
    if (!label || fieldAt(known, "/path") == *label) add(lines, known);
  }
  if (lines.size() == before) lines.emplace_back("  not traced (yet)");
}

void addChanges(Lines& lines, const Json& list, std::optional<std::uint32_t> label) {
  Json shown = Json::array();
  for (const Json& change : list) {
    if (!label || fieldAt(change, "/flows") != 1 || fieldAt(change, "/path") == *label) {
      shown.push_back(change);
    }
  }
  if (shown.empty()) return;
  lines.emplace_back("  changes in the last 24 hours, the newest first:");
  for (const std::string& line : pathHistoryLines(shown)) lines.push_back("  " + line);
}

std::string reasonText(const std::string& state) {
  if (state == "no pair") return "no other pair can cross it";
  if (state == "at limit") return "its hosts have as many further pairs as they may";
  return "pairs are chosen for it";
}

void addCover(Lines& lines, const Json& probe) {
  const std::string cover = shownAt(probe, "/cover");
  lines.push_back(
      fmt::format("{}: {} of {} link directions are crossed by at least {} of its {} "
                  "flows; {} pairs are probed for that beside the sample",
                  shownAt(probe, "/probe"), shownAt(probe, "/covered"), shownAt(probe, "/links"),
                  cover, shownAt(probe, "/flows"), shownAt(probe, "/pairs")));
  for (const Json& link : listAt(probe, "/few")) {
    lines.push_back(fmt::format("  {} -> {} has {}: {}", shownAt(link, "/from"),
                                shownAt(link, "/to"), shownAt(link, "/flows"),
                                reasonText(textAt(link, "/state"))));
  }
}

}  // namespace

Lines pathLines(const Json& paths, std::optional<std::uint32_t> label) {
  const std::string source = shownAt(paths, "/source_name");
  const std::string destination = shownAt(paths, "/destination_name");
  Lines lines = {fmt::format("{}: {} -> {}", shownAt(paths, "/probe"), source, destination)};
  addDirection(lines, listAt(paths, "/forward"), label);
  addChanges(lines, listAt(paths, "/forward_changes"), label);
  lines.push_back(fmt::format("{}: {} -> {}", shownAt(paths, "/probe"), destination, source));
  addDirection(lines, listAt(paths, "/return"), label);
  addChanges(lines, listAt(paths, "/return_changes"), label);
  return lines;
}

Lines fabricLines(const Json& fabric) {
  Lines lines = {fmt::format("{} switches, {} links, {} traced paths",
                             listAt(fabric, "/switches").size(), listAt(fabric, "/links").size(),
                             shownAt(fabric, "/paths"))};
  if (fieldAt(fabric, "/merged") == false) {
    lines.emplace_back(
        "Routers do not answer from the addresses that packets arrive at, so only switches next to "
        "hosts and named ones are merged (docs/paths.md).");
  }
  for (const Json& probe : listAt(fabric, "/cover")) addCover(lines, probe);
  TextTable switches({"TIER", "SWITCH", "ADDRESSES", "INCIDENT"});
  std::vector<TextTable::Cells> rows;
  for (const Json& each : listAt(fabric, "/switches")) {
    rows.push_back({shownAt(each, "/tier"), shownAt(each, "/name"),
                    std::to_string(listAt(each, "/addresses").size()), shownAt(each, "/incident")});
    switches.fit(rows.back());
  }
  lines.push_back(switches.header());
  for (const auto& row : rows) lines.push_back(switches.line(row));
  std::vector<Json> links(listAt(fabric, "/links").begin(), listAt(fabric, "/links").end());
  std::stable_sort(links.begin(), links.end(), [](const Json& a, const Json& b) {
    const bool accused = fieldAt(a, "/incident").is_null();
    if (accused != fieldAt(b, "/incident").is_null()) return !accused;
    return fieldAt(a, "/flows") < fieldAt(b, "/flows");
  });
  TextTable table({"FROM", "TO", "FLOWS", "INCIDENT"});
  rows.clear();
  for (const Json& link : links) {
    rows.push_back({shownAt(link, "/from"), shownAt(link, "/to"), shownAt(link, "/flows"),
                    shownAt(link, "/incident")});
    table.fit(rows.back());
  }
  lines.emplace_back();
  lines.push_back(table.header());
  for (const auto& row : rows) lines.push_back(table.line(row));
  return lines;
}

}  // namespace pingloom::cli
