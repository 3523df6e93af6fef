// The `thresholds:` of a probe, beyond which the controller judges a pair to be slow, very slow,
// lossy or down (docs/verdicts.md), and how many windows it takes. They are not part of the plan,
// so a change of them is not pushed to agents. Values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/duration.h"
#include "common/error.h"
#include "common/vocabulary.h"
#include "common/yaml.h"

namespace pingloom::pinglist {

// One level of a threshold. A threshold of `network` applies to each of its percentiles where a
// page shows them, and to the median where the controller judges.
struct Level {
  enum class Kind : std::uint8_t { kNone, kFactor, kTime, kPercent };
  Kind kind = Kind::kNone;
  double value = 0;  // a factor of the mesh's median, nanoseconds, or percent

  static constexpr Level factor(double value) { return {Kind::kFactor, value}; }
  static constexpr Level percent(double value) { return {Kind::kPercent, value}; }
  bool operator==(const Level&) const = default;
  // Returns "3x", "50us" or "5%", which readThresholds() reads again; "" stands for none.
  std::string text() const;
};

struct Threshold {
  Level warn;
  Level crit;

  bool operator==(const Threshold&) const = default;
};

// "3 of 5": that many of the newest windows. 1 <= k <= n <= kMaxWindows.
struct WindowCount {
  static constexpr std::uint8_t kMaxWindows = 8;
  std::uint8_t k = 1;
  std::uint8_t n = 1;

  bool operator==(const WindowCount&) const = default;
};

struct Thresholds {
  // Indexed by Figure; these are the defaults.
  std::array<Threshold, kFigureNames.size()> of = {{{Level::factor(3), Level::factor(10)},
                                                    {Level::factor(3), Level::factor(10)},
                                                    {Level::factor(3), Level::factor(10)},
                                                    {Level::factor(3), Level::factor(10)},
                                                    {Level::factor(3), Level::factor(10)},
                                                    {Level::percent(1), Level::percent(50)},
                                                    {Level::percent(20), Level::percent(50)}}};
  WindowCount enter = {3, 5};  // windows beyond a threshold until the pair is judged so
  WindowCount leave = {5, 5};  // windows within it until the pair is well again

  const Threshold& operator[](Figure figure) const { return of[static_cast<std::size_t>(figure)]; }
  bool operator==(const Thresholds&) const = default;
};

// Sets what `thresholds:` of the map contains; the rest stays unchanged.
Status readThresholds(const yaml::Node& map, Thresholds& thresholds);

// Describes the differences to the defaults, such as "network warn 50us crit 200us, loss warn 1%
// crit none, enter 2 of 3", or returns "".
std::string describe(const Thresholds& thresholds);

}  // namespace pingloom::pinglist
