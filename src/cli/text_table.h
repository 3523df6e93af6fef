// Columns of text for a terminal. Widths grow with what is added and never shrink, so that a table
// that goes on (--watch) stays readable. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pingloom::cli {

// Text from outside without control characters, so that it cannot steer the terminal.
std::string printable(std::string_view text);

// What a cell without text shows.
std::string orDash(std::string_view text);

class TextTable {
 public:
  using Cells = std::vector<std::string>;
  explicit TextTable(Cells header);

  void fit(const Cells& cells);  // makes the columns wide enough
  std::string header() const { return line(header_); }
  std::string line(const Cells& cells) const;  // without a line end or trailing blanks

 private:
  Cells header_;
  std::vector<std::size_t> widths_;
};

}  // namespace pingloom::cli
