#include "cli/pages_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text_table.h"

namespace pingloom::cli {
namespace {

constexpr std::string_view kReading = "reading";
constexpr std::string_view kFresh = "fresh";
constexpr std::size_t kMetricColumn = 3;
constexpr std::size_t kMinMetric = 16;
constexpr std::size_t kMaxMetric = 160;  // so that one long name does not widen all lines

std::string number(std::optional<double> value) {
  return value ? fmt::format("{:.6g}", *value) : "-";
}

std::string valueText(const PageMetric& metric) {
  if (metric.kind == "info") return "";
  const bool summarized = metric.kind == "histogram" || metric.kind == "summary";
  if (metric.kind != "counter" && !summarized) return number(metric.value);
  if (!metric.count) return metric.kind == "counter" ? number(metric.value) : "-";
  if (metric.kind == "counter") return std::to_string(*metric.count);
  if (*metric.count == 0) return "count 0";
  std::string text = fmt::format("count {}", *metric.count);
  if (metric.value) {
    text += fmt::format(", mean {:.3g}", *metric.value / static_cast<double>(*metric.count));
  }
  if (metric.p50) text += fmt::format(", p50 {:.3g}", *metric.p50);
  if (metric.p99) text += fmt::format(", p99 {:.3g}", *metric.p99);
  return text;
}

std::string rateText(const PageMetric& metric) {
  if (!metric.count && metric.kind != "counter") return "";
  return metric.rate ? fmt::format("{:.6g}/s", *metric.rate) : "-";
}

// Never cuts within a character.
void cut(std::string& text, std::size_t most) {
  if (text.size() <= most) return;
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.replace(end, std::string::npos, "...");
}

struct TableRow {
  TextTable::Cells cells;
  bool bad = false;
};

std::vector<TableRow> rowsOf(const PagesAgent& agent, bool rates) {
  std::vector<TableRow> rows;
  for (const ShownPage& page : agent.pages) {
    const TextTable::Cells owner = {orDash(page.application), page.process, orDash(page.state)};
    const bool bad = page.state != kFresh;
    for (const PageMetric& metric : page.metrics) {
      TextTable::Cells cells = owner;
      cells.insert(cells.end(), {orDash(metric.name), orDash(metric.kind)});
      if (rates) cells.push_back(rateText(metric));
      cells.push_back(valueText(metric));
      rows.push_back({std::move(cells), bad});
    }
    if (page.metrics.empty()) {
      TextTable::Cells cells = owner;
      cells.emplace_back("(no metrics)");
      rows.push_back({std::move(cells), true});
    }
  }
  return rows;
}

// The width that all columns except the metric's need.
std::size_t widthOfOthers(const TextTable::Cells& header, const std::vector<TableRow>& rows) {
  std::size_t total = 0;
  for (std::size_t column = 0; column < header.size(); ++column) {
    if (column == kMetricColumn) continue;
    std::size_t widest = header[column].size();
    for (const TableRow& row : rows) {
      if (column < row.cells.size()) widest = std::max(widest, row.cells[column].size());
    }
    total += widest + 2;
  }
  return total;
}

void addTable(const PagesAgent& agent, const PagesLayout& layout, std::vector<ReportLine>& lines) {
  TextTable::Cells header = {"APPLICATION", "PID", "STATE", "METRIC", "KIND"};
  if (layout.rates) header.emplace_back("RATE");
  header.emplace_back("VALUE");
  auto rows = rowsOf(agent, layout.rates);
  std::size_t longest = kMaxMetric;
  if (layout.width != 0) {
    const std::size_t others = widthOfOthers(header, rows);
    longest = std::max(kMinMetric, layout.width > others ? layout.width - others : 0);
  }
  TextTable table(header);
  for (TableRow& row : rows) {
    cut(row.cells[kMetricColumn], longest);
    table.fit(row.cells);
  }
  lines.push_back({table.header(), LineStyle::kHeader});
  for (const TableRow& row : rows) {
    lines.push_back({table.line(row.cells), row.bad ? LineStyle::kBad : LineStyle::kPlain});
  }
}

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

ReportLine titleOf(const PagesAgent& agent) {
  std::size_t metrics = 0;
  for (const ShownPage& page : agent.pages) metrics += page.metrics.size();
  std::string text = fmt::format("{}: {}", agent.name(), orDash(agent.state));
  if (agent.state != kReading) {
    if (!agent.problem.empty()) text += ": " + agent.problem;
    if (!agent.pages.empty()) text += "; what was read last:";
    return {text, LineStyle::kBad};
  }
  return {text + fmt::format(", {}, {}", counted(agent.pages.size(), "page"),
                             counted(metrics, "metric")),
          LineStyle::kTitle};
}

std::string anomalyText(const PageAnomaly& anomaly) {
  std::string text = fmt::format("anomaly: {} (pid {}): {} is {}", orDash(anomaly.application),
                                 anomaly.process, orDash(anomaly.metric), number(anomaly.value));
  if (anomaly.peers) text += fmt::format(", that of its peers {}", number(anomaly.peers));
  if (anomaly.usual) text += fmt::format(", usual at this time {}", number(anomaly.usual));
  return text +
         fmt::format(" ({}, score {:.2f})", orDash(anomaly.statistic), anomaly.score.value_or(0));
}

void addExemplars(const PagesAgent& agent, std::vector<ReportLine>& lines) {
  for (const ShownPage& page : agent.pages) {
    for (const PageMetric& metric : page.metrics) {
      for (const PageExemplar& exemplar : metric.exemplars) {
        // The trace is first, so that no narrow terminal cuts it off.
        lines.push_back({fmt::format("exemplar: {} {} {} at {}, {} (pid {})", exemplar.labels,
                                     orDash(metric.name), number(exemplar.value),
                                     orDash(exemplar.time), orDash(page.application), page.process),
                         LineStyle::kPlain});
      }
    }
  }
}

std::string pageName(const ShownPage& page) {
  return fmt::format("the page of {} (pid {})", orDash(page.application), page.process);
}

}  // namespace

std::vector<ReportLine> pagesLines(const PagesDocument& document, const PagesLayout& layout) {
  std::vector<ReportLine> lines;
  if (document.empty()) {
    lines.push_back({"the collector reads no agent yet", LineStyle::kBad});
  }
  for (const PagesAgent& agent : document) {
    if (!lines.empty()) lines.emplace_back();
    lines.push_back(titleOf(agent));
    if (!agent.pages.empty()) addTable(agent, layout, lines);
    if (layout.exemplars) addExemplars(agent, lines);
    for (const std::string& warning : agent.warnings) {
      lines.push_back({"warning: " + warning, LineStyle::kBad});
    }
    for (const PageAnomaly& anomaly : agent.anomalies) {
      lines.push_back({anomalyText(anomaly), LineStyle::kBad});
    }
  }
  return lines;
}

std::vector<std::string> pagesProblems(const PagesDocument& document) {
  if (document.empty()) return {"the collector reads no agent"};
  std::vector<std::string> problems;
  for (const PagesAgent& agent : document) {
    if (agent.state != kReading) problems.push_back(titleOf(agent).text);
    if (agent.pages.empty()) problems.push_back(agent.name() + ": no page");
    for (const ShownPage& page : agent.pages) {
      if (page.state != kFresh) {
        problems.push_back(
            fmt::format("{}: {} is {}", agent.name(), pageName(page), orDash(page.state)));
      }
      if (page.metrics.empty()) {
        problems.push_back(fmt::format("{}: {} has no metrics", agent.name(), pageName(page)));
      }
    }
  }
  return problems;
}

}  // namespace pingloom::cli
