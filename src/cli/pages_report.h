// Metric pages as lines for people, and whether all is well with them. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/pages_document.h"

namespace pingloom::cli {

enum class LineStyle : std::uint8_t { kPlain, kTitle, kHeader, kBad };

struct ReportLine {
  std::string text;
  LineStyle style = LineStyle::kPlain;
};

struct PagesLayout {
  bool rates = false;     // with a column for them
  std::size_t width = 0;  // a metric's name is cut so that its value still fits; 0: any width
};

// A title and a table for each agent.
std::vector<ReportLine> pagesLines(const PagesDocument& document, const PagesLayout& layout);

// What keeps pages from being read, one line each; empty: every agent is read, and every page is
// fresh and has a metric.
std::vector<std::string> pagesProblems(const PagesDocument& document);

}  // namespace pingloom::cli
