#include "cli/terminal.h"

#define NCURSES_NOMACROS
#include <curses.h>
#include <poll.h>

#include <algorithm>
#include <cstdlib>

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
  const UniqueFd stop = program::blockStopSignals();
  const Terminal terminal;
  while (true) {
    const Nanos wait = std::max<Nanos>(draw(), 0);
    pollfd waiting[] = {{0, POLLIN, 0}, {stop.get(), POLLIN, 0}};
    poll(waiting, 2, static_cast<int>(wait / kMillisecond) + 1);
    if ((waiting[1].revents & POLLIN) != 0) return 0;
    if ((waiting[0].revents & (POLLHUP | POLLERR)) != 0) return 0;
    for (int pressed = getch(); pressed != ERR; pressed = getch()) {
      if (!key(pressed)) return 0;
    }
  }
}

}  // namespace pingloom::cli
