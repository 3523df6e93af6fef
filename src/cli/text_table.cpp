#include "cli/text_table.h"

#include <algorithm>
#include <iostream>
#include <utility>

namespace pingloom::cli {

std::string printable(std::string_view text) {
  std::string clean(text);
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(clean[i]); };
  for (std::size_t i = 0; i < clean.size(); ++i) {
    // U+0080 to U+009F are control characters too; their encoding is C2 and the number.
    const bool second = i + 1 < clean.size() && byte(i) == 0xc2 && (byte(i + 1) & 0xe0) == 0x80;
    if (second) clean.erase(i, 1);
    if (second || byte(i) < 0x20 || byte(i) == 0x7f) clean[i] = '?';
  }
  return clean;
}

std::string orDash(std::string_view text) { return std::string(text.empty() ? "-" : text); }

TextTable::TextTable(Cells header) : header_(std::move(header)), widths_(header_.size()) {
  fit(header_);
}

void TextTable::fit(const Cells& cells) {
  for (std::size_t i = 0; i < std::min(cells.size(), widths_.size()); ++i) {
    widths_[i] = std::max(widths_[i], cells[i].size());
  }
}

std::string TextTable::line(const Cells& cells) const {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text += "  ";
    text += cells[i];
    if (i < widths_.size() && cells[i].size() < widths_[i]) {
      text.append(widths_[i] - cells[i].size(), ' ');
    }
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

void printTable(const TextTable& table, const std::vector<TextTable::Cells>& rows) {
  std::cout << (rows.empty() ? "none" : table.header()) << "\n";
  for (const TextTable::Cells& row : rows) std::cout << table.line(row) << "\n";
}

}  // namespace pingloom::cli
