#include "controller/verdict/pair_judge.h"

#include <array>
#include <utility>

namespace pingloom::controller {
namespace {

// REQUIRES: count.k > 0. Nearly always no window is beyond, and counting bits takes a call.
bool reached(std::uint8_t windows, pinglist::WindowCount count) {
  const unsigned beyond = windows & ((1U << count.n) - 1);
  return beyond != 0 && std::popcount(beyond) >= count.k;
}

std::uint8_t taken(std::uint8_t windows, bool beyond, bool again) {
  const unsigned earlier = again ? windows & ~1U : unsigned{windows} << 1U;
  return static_cast<std::uint8_t>(earlier | (beyond ? 1U : 0U));
}

}  // namespace

WindowLevels levelsOf(const RowFigures& row, const Limits& limits) {
  WindowLevels made;
  const auto take = [&](Figure figure) {
    const auto i = static_cast<std::size_t>(figure);
    std::uint64_t value = 0;
    if (!judgedValue(row, figure, value) || value < limits.warn[i]) return;
    const bool crit = value >= limits.crit[i];
    made.figures |= static_cast<std::uint8_t>(1U << i);
    if (figure == Figure::kLoss) {
      made.lossy = true;
      made.down = crit;
    } else {
      made.slow = true;
      made.very_slow = made.very_slow || crit;
    }
  };
  // A loop would ask for each row which figure it is at.
  [&]<std::size_t... kFigures>(std::index_sequence<kFigures...>) {
    (take(static_cast<Figure>(kFigures)), ...);
  }
  (std::make_index_sequence<kFigureNames.size()>());
  return made;
}

Judged judge(PairHistory& history, const WindowLevels& window, bool again,
             pinglist::WindowCount enter, pinglist::WindowCount leave) {
  history.slow = taken(history.slow, window.slow, again);
  history.very_slow = taken(history.very_slow, window.very_slow, again);
  history.lossy = taken(history.lossy, window.lossy, again);
  history.down = taken(history.down, window.down, again);
  const Severity before = history.judged.severity;
  Severity now = Severity::kOk;
  for (const auto& [severity, windows] :
       {std::pair(Severity::kDown, history.down), std::pair(Severity::kLossy, history.lossy),
        std::pair(Severity::kVerySlow, history.very_slow),
        std::pair(Severity::kSlow, history.slow)}) {
    const bool stays = before == severity && !reached(static_cast<std::uint8_t>(~windows), leave);
    if (stays || reached(windows, enter)) {
      now = severity;
      break;
    }
  }
  history.judged.severity = now;
  // A busy core may delay a pair that is only not forgiven yet for the pings it lost.
  const bool slow = now < Severity::kLossy || reached(history.slow, enter);
  const bool shows = (now >= Severity::kLossy && window.lossy) || (slow && window.slow);
  if (now == Severity::kOk || shows) {
    history.judged.figures = window.figures;
  } else {
    history.judged.figures |= Judged::kFading;
  }
  return history.judged;
}

}  // namespace pingloom::controller
