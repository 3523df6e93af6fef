// The terminal in curses mode, for the live views. One exists at a time, on one thread; its
// destructor restores the terminal.
#pragma once

#include <functional>

#include "common/time.h"

namespace pingloom::cli {

// How often a live view refreshes, and how long it waits for an answer. Keys have no effect while
// it waits.
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

// Runs a live view's loop in its own Terminal. `draw` returns how long to wait for a key, and `key`
// gets each key pressed; a resize arrives as KEY_RESIZE. The loop ends when `key` returns false, on
// SIGINT or SIGTERM, or when the terminal is gone. Returns the exit code.
int runScreen(const std::function<Nanos()>& draw, const std::function<bool(int)>& key);

}  // namespace pingloom::cli
