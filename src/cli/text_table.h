// Columns of text for a terminal. Widths grow with the contents and never shrink, so that a table
// that is continued (--watch) stays readable. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pingloom::cli {

// Replaces control characters in text from outside, so that it cannot control the terminal.
std::string printable(std::string_view text);

// Returns the text, or the dash that an empty cell shows.
std::string orDash(std::string_view text);

class TextTable {
 public:
  using Cells = std::vector<std::string>;
  explicit TextTable(Cells header);

  void fit(const Cells& cells);  // makes the columns wide enough
  std::string header() const { return line(header_); }
  std::string line(const Cells& cells) const;  // has no line end and no trailing blanks

 private:
  Cells header_;
  std::vector<std::size_t> widths_;
};

// Prints the header and these rows, which the table fits, or "none".
void printTable(const TextTable& table, const std::vector<TextTable::Cells>& rows);

}  // namespace pingloom::cli
