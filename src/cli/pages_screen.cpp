#include "cli/pages_screen.h"

#define NCURSES_NOMACROS
#include <curses.h>

#include <algorithm>

#include "cli/terminal.h"

namespace pingloom::cli {
namespace {

attr_t attributesOf(LineStyle style) {
  switch (style) {
    case LineStyle::kTitle:
      return A_BOLD;
    case LineStyle::kHeader:
      return A_REVERSE;
    case LineStyle::kBad:
      return COLOR_PAIR(static_cast<short>(Colour::kBad));
    case LineStyle::kPlain:
      break;
  }
  return A_NORMAL;
}

void putLine(int line, const std::string& text, attr_t attributes) {
  attron(attributes);
  mvaddnstr(line, 0, text.c_str(), COLS);
  attroff(attributes);
}

}  // namespace

int PagesScreen::run() {
  const auto show = [this] {
    if (monotonicNow() >= next_mono_) refresh();
    draw();
    return next_mono_ - monotonicNow();
  };
  return runScreen(show, [this](int pressed) { return key(pressed); });
}

void PagesScreen::refresh() {
  auto answer = fetchPages(query_, kRefreshTimeout);
  next_mono_ = monotonicNow() + kRefreshInterval;
  if (!answer) {
    trouble_ = answer.error().text();  // what was known stays on the screen
    return;
  }
  trouble_.clear();
  asked_ = true;
  setRates(document_, answer->document);
  document_ = std::move(answer->document);
}

std::size_t PagesScreen::visibleLines() const {
  return static_cast<std::size_t>(std::max(LINES - 2, 1));
}

void PagesScreen::scroll(std::ptrdiff_t by) {
  const auto last = std::max<std::ptrdiff_t>(
      static_cast<std::ptrdiff_t>(lines_.size()) - static_cast<std::ptrdiff_t>(visibleLines()), 0);
  offset_ = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(offset_) + by, 0, last));
}

void PagesScreen::draw() {
  if (asked_) lines_ = pagesLines(document_, {true, static_cast<std::size_t>(COLS), exemplars_});
  scroll(0);
  erase();
  putLine(0, "pingloom pages  " + query_.site.url, A_NORMAL);
  const std::size_t shown = std::min(visibleLines(), lines_.size() - offset_);
  for (std::size_t i = 0; i < shown; ++i) {
    const ReportLine& line = lines_[offset_ + i];
    putLine(static_cast<int>(1 + i), line.text, attributesOf(line.style));
  }
  putLine(LINES - 1, trouble_.empty() ? "q quit  arrows, PgUp, PgDn scroll" : trouble_, A_NORMAL);
  ::refresh();
}

bool PagesScreen::key(int pressed) {
  const auto page = static_cast<std::ptrdiff_t>(visibleLines());
  switch (pressed) {
    case 'q':
      return false;
    case KEY_DOWN:
      scroll(1);
      break;
    case KEY_UP:
      scroll(-1);
      break;
    case KEY_NPAGE:
      scroll(page);
      break;
    case KEY_PPAGE:
      scroll(-page);
      break;
    case KEY_HOME:
      offset_ = 0;
      break;
    case KEY_END:
      scroll(static_cast<std::ptrdiff_t>(lines_.size()));
      break;
    default:
      break;
  }
  return true;
}

}  // namespace pingloom::cli
