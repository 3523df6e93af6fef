#include "collector/watch/fit_budget.h"

#include <gtest/gtest.h>

namespace pingloom::collector::fit_budget_test {
namespace {

constexpr Nanos kInterval = 100 * kMillisecond;

// Fits whose slices take a time by a clock that only they move.
struct Fits {
  // An interval after the last one; returns the time that was spent in it.
  Nanos next(Nanos slice, int slices = 1'000'000) {
    const Nanos before = now;
    budget.spend(
        kInterval, [this] { return now; },
        [&] {
          now += slice;
          return --slices > 0;
        });
    return now - before;
  }
  Nanos next(int intervals, Nanos slice) {
    Nanos spent = 0;
    for (int i = 0; i < intervals; ++i) spent += next(slice);
    return spent;
  }
  FitBudget budget;
  Nanos now = 7 * kSecond;
};

TEST(FitBudget, endsWithTheSliceInWhichItIsUsedUp) {
  Fits fits;
  EXPECT_EQ(fits.next(2 * kMillisecond), 6 * kMillisecond) << "5 ms are 5 % of the interval";
  EXPECT_EQ(fits.next(2 * kMillisecond), 4 * kMillisecond) << "1 ms was owed";
}

TEST(FitBudget, isAShareOfTheTimeHoweverLongASliceTakes) {
  for (const Nanos slice : {kMillisecond, 3 * kMillisecond, 40 * kMillisecond, kSecond}) {
    Fits fits;
    const Nanos spent = fits.next(1000, slice);
    EXPECT_LE(spent, 5 * kSecond + slice) << slice << " ns a slice";
    EXPECT_GE(spent, 5 * kSecond - slice) << slice << " ns a slice";
  }
}

TEST(FitBudget, isNotSavedUp) {
  Fits fits;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(fits.next(kMillisecond, 1), kMillisecond);
  EXPECT_EQ(fits.next(kMillisecond), 5 * kMillisecond);
}

}  // namespace
}  // namespace pingloom::collector::fit_budget_test
