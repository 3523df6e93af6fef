// What every parser of the host's metrics must withstand: its file cut off anywhere, and nonsense.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "agent/system/readings.h"

namespace pingloom::agent::system {

inline bool same(const Reading& a, const Reading& b) {
  return a.family == b.family && a.labels == b.labels && a.count == b.count && a.value == b.value;
}

// A cut file gives some of the whole file's readings and no other value.
template <typename Parse>
void expectTruncationsAreHarmless(std::string_view text, Parse parse) {
  Readings whole;
  parse(text, whole);
  EXPECT_EQ(whole.malformed, 0U);
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string cut(text.substr(0, size));
    Readings readings;
    parse(cut, readings);
    for (const Reading& reading : readings.all) {
      EXPECT_TRUE(std::any_of(whole.all.begin(), whole.all.end(),
                              [&](const Reading& one) { return same(one, reading); }))
          << reading.family->name << " after " << size << " bytes";
    }
    EXPECT_EQ(readings.malformed, size == 0 || cut.back() == '\n' ? 0U : 1U) << size << " bytes";
  }
}

// With random bytes in between it only must not crash, loop or read elsewhere.
template <typename Parse>
void expectNonsenseIsHarmless(std::string_view text, Parse parse) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string wrong(text);
    for (int i = 0; i < 4; ++i) wrong[random() % wrong.size()] = static_cast<char>(random());
    Readings readings;
    parse(wrong, readings);
  }
}

// Returns the value of the reading with this name and these labels; -1 if there is not exactly one.
inline double valueOf(const Readings& readings, std::string_view name,
                      const Readings::Values& labels = {}) {
  double value = -1;
  std::size_t found = 0;
  for (const Reading& reading : readings.all) {
    if (reading.family->name != name || reading.labels != labels) continue;
    ++found;
    value = reading.family->kind == Kind::kCounter
                ? static_cast<double>(reading.count) * reading.family->unit
                : reading.value;
  }
  return found == 1 ? value : -1;
}

}  // namespace pingloom::agent::system
