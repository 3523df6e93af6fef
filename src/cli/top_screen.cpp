#include "cli/top_screen.h"

#define NCURSES_NOMACROS
#include <curses.h>
#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal.h"

namespace pingloom::cli {
namespace {

// A refresh takes at most this share of the time, so that watching never loads the controller.
constexpr Nanos kIdleFactor = 4;
constexpr std::size_t kMaxFilter = 200;
constexpr int kEscape = 27;

// What is judged decides, so that a single lost ping does not make a line red.
Colour colourOf(PairState state, std::optional<Severity> judged) {
  if (judged && *judged != Severity::kNone) {
    if (*judged == Severity::kOk) return Colour::kGood;
    return *judged == Severity::kSlow ? Colour::kDoubtful : Colour::kBad;
  }
  if (state == PairState::kOk) return Colour::kGood;
  if (state == PairState::kPending) return Colour::kPlain;
  return severity(state) >= severity(PairState::kRefused) ? Colour::kBad : Colour::kDoubtful;
}

void put(int line, int columns, const std::string& text) {
  mvaddnstr(line, 0, text.c_str(), columns);
}

}  // namespace

int TopScreen::run() {
  const auto show = [this] {
    if (!paused_ && monotonicNow() >= next_mono_) refresh();
    draw();
    return paused_ ? kSecond : next_mono_ - monotonicNow();
  };
  return runScreen(show, [this](int pressed) { return key(pressed); });
}

void TopScreen::refresh() {
  const Nanos started_mono = monotonicNow();
  auto mesh = fetchTopMesh(query_, kRefreshTimeout);
  const Nanos done_mono = monotonicNow();
  next_mono_ = done_mono + std::max(kRefreshInterval, kIdleFactor * (done_mono - started_mono));
  if (!mesh) {
    trouble_ = mesh.error().text();  // what was known stays on the screen
    return;
  }
  trouble_.clear();
  mesh_ = std::move(*mesh);
  scroll(0);
}

std::size_t TopScreen::visibleLines() const {
  return static_cast<std::size_t>(std::max(LINES - 3, 1));
}

void TopScreen::scroll(std::ptrdiff_t by) {
  const auto pairs = static_cast<std::ptrdiff_t>(mesh_.ranked.size());
  const auto last =
      std::max<std::ptrdiff_t>(pairs - static_cast<std::ptrdiff_t>(visibleLines()), 0);
  offset_ = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(offset_) + by, 0, last));
}

void TopScreen::rerank() {
  mesh_.ranked = rankPairs(mesh_.grids, query_.sort, query_.filter);
  offset_ = 0;
}

std::string TopScreen::statusLine() const {
  std::string line = "pingloom top  " + query_.site.url + "  sort: ";
  line += kTopSortNames[static_cast<std::size_t>(query_.sort)];
  if (!query_.filter.empty() || typing_filter_) line += "  filter: " + query_.filter;
  if (typing_filter_) line += "_";
  if (paused_) line += "  PAUSED";
  return line + fmt::format("  {} pairs", mesh_.ranked.size());
}

void TopScreen::draw() const {
  erase();
  put(0, COLS, statusLine());
  attron(A_REVERSE);
  TextTable fitted(topHeader());
  const std::size_t shown = std::min(visibleLines(), mesh_.ranked.size() - offset_);
  std::vector<TextTable::Cells> lines;
  for (std::size_t i = 0; i < shown; ++i) {
    lines.push_back(topCells(mesh_, mesh_.ranked[offset_ + i]));
    fitted.fit(lines.back());
  }
  put(1, COLS, fitted.header());
  attroff(A_REVERSE);
  for (std::size_t i = 0; i < shown; ++i) {
    const TopPair& pair = mesh_.ranked[offset_ + i];
    const Colour kind = colourOf(topState(mesh_, pair), topSeverity(mesh_, pair));
    const attr_t colour = COLOR_PAIR(static_cast<short>(kind));
    attron(colour);
    put(static_cast<int>(2 + i), COLS, fitted.line(lines[i]));
    attroff(colour);
  }
  put(LINES - 1, COLS,
      trouble_.empty() ? "q quit  s sort  p pause  / filter  arrows, PgUp, PgDn scroll" : trouble_);
  ::refresh();
}

void TopScreen::filterKey(int pressed) {
  if (pressed == '\n' || pressed == KEY_ENTER) {
    typing_filter_ = false;
  } else if (pressed == kEscape) {
    typing_filter_ = false;
    query_.filter.clear();
  } else if (pressed == KEY_BACKSPACE || pressed == 127 || pressed == '\b') {
    if (!query_.filter.empty()) query_.filter.pop_back();
  } else if (pressed >= ' ' && pressed < 127 && query_.filter.size() < kMaxFilter) {
    query_.filter += static_cast<char>(pressed);
  }
  rerank();
}

bool TopScreen::key(int pressed) {
  if (pressed == KEY_RESIZE) {
    scroll(0);
    return true;
  }
  if (typing_filter_) {
    filterKey(pressed);
    return true;
  }
  switch (pressed) {
    case 'q':
      return false;
    case 's':
      query_.sort =
          static_cast<TopSort>((static_cast<std::size_t>(query_.sort) + 1) % kTopSortNames.size());
      rerank();
      break;
    case 'p':
      paused_ = !paused_;
      break;
    case '/':
      typing_filter_ = true;
      break;
    case KEY_DOWN:
      scroll(1);
      break;
    case KEY_UP:
      scroll(-1);
      break;
    case KEY_NPAGE:
      scroll(static_cast<std::ptrdiff_t>(visibleLines()));
      break;
    case KEY_PPAGE:
      scroll(-static_cast<std::ptrdiff_t>(visibleLines()));
      break;
    case KEY_HOME:
      offset_ = 0;
      break;
    case KEY_END:
      scroll(static_cast<std::ptrdiff_t>(mesh_.ranked.size()));
      break;
    default:
      break;
  }
  return true;
}

}  // namespace pingloom::cli
