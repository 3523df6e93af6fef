// The terminal in curses mode, for the live views: one at a time, on one thread. Gives the terminal
// back as it was when it goes.
#pragma once

#include <functional>

#include "common/time.h"

namespace pingloom::cli {

// A live view asks for news this often, and waits this long for them: its keys do nothing
// meanwhile.
constexpr Nanos kRefreshInterval = kSecond;
constexpr Nanos kRefreshTimeout = 3 * kSecond;

enum class Colour : short { kPlain = 0, kGood, kBad, kDoubtful };  // numbers of colour pairs

class Terminal {
 public:
  // REQUIRES: standard input and output are a terminal.
  Terminal();
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
};

// A live view's loop in a Terminal of its own: `draw` gives how long to wait for a key, then each
// key pressed goes to `key`, until that says false, SIGINT or SIGTERM comes, or the terminal is
// gone. A resize arrives as KEY_RESIZE. The exit code.
int runScreen(const std::function<Nanos()>& draw, const std::function<bool(int)>& key);

}  // namespace pingloom::cli
