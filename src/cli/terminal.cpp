#include "cli/terminal.h"

#define NCURSES_NOMACROS
#include <curses.h>

#include <algorithm>
#include <cstdlib>

#include "common/poll_set.h"
#include "common/program.h"

namespace pingloom::cli {
namespace {

short pairOf(Colour colour) { return static_cast<short>(colour); }

}  // namespace

Terminal::Terminal() {
  initscr();
  cbreak();
  noecho();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  set_escdelay(25);
  curs_set(0);
  if (!has_colors() || std::getenv("NO_COLOR") != nullptr) return;
  start_color();
  use_default_colors();
  init_pair(pairOf(Colour::kGood), COLOR_GREEN, -1);
  init_pair(pairOf(Colour::kBad), COLOR_RED, -1);
  init_pair(pairOf(Colour::kDoubtful), COLOR_YELLOW, -1);
}

Terminal::~Terminal() { endwin(); }

int runScreen(const std::function<Nanos()>& draw, const std::function<bool(int)>& key) {
  enum class Wake { kKeyboard, kStop, kCount };
  const UniqueFd stop = program::blockStopSignals();
  const Terminal terminal;
  while (true) {
    const Nanos wait = std::max<Nanos>(draw(), 0);
    PollSet<Wake> wakes;
    wakes.watch(Wake::kKeyboard, STDIN_FILENO);
    wakes.watch(Wake::kStop, stop.get());
    wakes.wait(wait);
    if (wakes.ready(Wake::kStop)) return 0;
    if ((wakes.events(Wake::kKeyboard) & (POLLHUP | POLLERR)) != 0) return 0;
    for (int pressed = getch(); pressed != ERR; pressed = getch()) {
      if (!key(pressed)) return 0;
    }
  }
}

}  // namespace pingloom::cli
