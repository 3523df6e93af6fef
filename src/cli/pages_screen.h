// The live view of `pingloom pages --watch` on a terminal. One thread. It owns the terminal while
// it runs and restores it on every exit except SIGKILL.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "cli/pages_report.h"
#include "cli/pages_source.h"

namespace pingloom::cli {

class PagesScreen {
 public:
  // REQUIRES: standard input and output are a terminal.
  PagesScreen(PagesQuery query, bool exemplars) : query_(std::move(query)), exemplars_(exemplars) {}
  // Runs until q, SIGINT or SIGTERM; returns the exit code.
  int run();

 private:
  void refresh();
  void draw();
  bool key(int pressed);  // returns false to quit
  void scroll(std::ptrdiff_t by);
  std::size_t visibleLines() const;

  PagesQuery query_;
  bool exemplars_;
  PagesDocument document_;
  std::vector<ReportLine> lines_;  // the document, formatted for the terminal's width
  std::string trouble_;            // why the last refresh failed; "" when it succeeded
  bool asked_ = false;
  Nanos next_mono_ = 0;
  std::size_t offset_ = 0;
};

}  // namespace pingloom::cli
