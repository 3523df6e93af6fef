// Judges one pair over its newest windows: k of n beyond a threshold to enter a severity, k of n
// within it to leave. Pure; any thread. The control thread keeps one PairHistory for each pair.
#pragma once

#include <bit>
#include <cstdint>

#include "common/vocabulary.h"
#include "controller/model/board.h"
#include "controller/model/limits.h"
#include "pinglist/thresholds.h"

namespace pingloom::controller {

// The newest 8 windows of a pair, bit 0 the newest; a set bit is a window beyond the threshold.
struct PairHistory {
  std::uint8_t slow = 0;
  std::uint8_t very_slow = 0;
  std::uint8_t lossy = 0;
  std::uint8_t down = 0;
  Judged judged;
};
static_assert(sizeof(PairHistory) == 6, "the memory of a pair; docs/verdicts.md names it");

// What one window shows.
struct WindowLevels {
  bool slow = false;
  bool very_slow = false;
  bool lossy = false;
  bool down = false;
  std::uint8_t figures = 0;  // bit i: Figure i is beyond `warn`
};
WindowLevels levelsOf(const RowFigures& row, const Limits& limits);

// Takes a window into the history and returns what is judged now. `again`: this window was taken
// before, and its row has changed.
Judged judge(PairHistory& history, const WindowLevels& window, bool again,
             pinglist::WindowCount enter, pinglist::WindowCount leave);

}  // namespace pingloom::controller
