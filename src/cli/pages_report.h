// Formats metric pages as text, and lists their problems. Pure; any thread.
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
  bool rates = false;      // adds a column for the rates
  std::size_t width = 0;   // names are cut so that a line fits; 0 stands for any width
  bool exemplars = false;  // adds a line for each exemplar below the table
};

// Returns a title and a table for each agent.
std::vector<ReportLine> pagesLines(const PagesDocument& document, const PagesLayout& layout);

// Returns one line for each problem. It returns none when every agent is read, and every page is
// fresh and has a metric.
std::vector<std::string> pagesProblems(const PagesDocument& document);

}  // namespace pingloom::cli
