#include "collector/analytics/season.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace pingloom::collector::analytics::season_test {
namespace {

constexpr std::int64_t kDay = 1440;  // minutes
constexpr int kSamples = 6;          // a minute
constexpr std::uint32_t kHour = 60 * kSamples;
constexpr Nanos kMonday = 4 * 24 * kHour * 10 * kSecond;
const std::vector<bool> kRates = {true, true, false, true};

// A service on a virtual clock: traffic with a course of the day, half of it on weekends.
class Service {
 public:
  // Takes samples until this minute; the traffic is `part` of the usual.
  void until(std::int64_t minute, double part = 1) {
    for (; now_ < minute; ++now_) {
      for (int i = 0; i < kSamples; ++i) {
        const Nanos mono = (now_ * kSamples + i) * 10 * kSecond;
        const auto& verdict = season_.observe({mono, kMonday + mono + ahead_}, sample(part));
        if (!verdict.changed) continue;
        if (verdict.anomalous) began_.push_back(now_);
        if (!verdict.anomalous) ended_.push_back(now_);
      }
    }
  }
  std::vector<double> sample(double part) {
    const auto time = static_cast<double>(now_ % kDay) / static_cast<double>(kDay);
    double traffic = 100 * std::exp(0.5 * std::sin(2 * std::numbers::pi * time)) * part;
    if (weekends_ && now_ / kDay % 7 >= 5) traffic *= 0.4;
    const auto noise = [&] { return std::exp(0.03 * normal_(random_)); };
    return {traffic * noise(), 20 * traffic * noise(), 7, traffic * traffic * noise()};
  }
  Season& season() { return season_; }
  void replace(Season season) { season_ = std::move(season); }
  void setClock(Nanos ahead) { ahead_ = ahead; }
  void withoutWeekends() { weekends_ = false; }
  const std::vector<std::int64_t>& began() const { return began_; }
  const std::vector<std::int64_t>& ended() const { return ended_; }

 private:
  Season season_{kRates, kHour};
  std::int64_t now_ = 0;
  Nanos ahead_ = 0;
  bool weekends_ = true;
  std::vector<std::int64_t> began_, ended_;
  std::mt19937 random_{1};
  std::normal_distribution<double> normal_;
};

std::string written(Season& season) {
  std::string bytes;
  StateArchive archive(bytes);
  archive(season);
  return bytes;
}

bool readInto(Season& season, std::string_view bytes) {
  StateArchive archive(bytes);
  archive(season);
  return archive.ok() && archive.left() == 0;
}

TEST(Season, knowsATimeAfterThreeDaysAndNotBefore) {
  Service early;
  early.until(2 * kDay + 600);
  early.until(2 * kDay + 640, 0.4);
  EXPECT_FALSE(early.season().latest().judged);
  EXPECT_TRUE(early.began().empty());
  Service known;
  known.until(3 * kDay + 600);
  EXPECT_TRUE(known.season().latest().judged);
  EXPECT_TRUE(known.began().empty());
  known.until(3 * kDay + 640, 0.4);
  ASSERT_EQ(known.began().size(), 1U);
}

TEST(Season, findsADropOfHalfWithinTenMinutesAndItsEnd) {
  Service service;
  service.until(4 * kDay + 600);
  service.until(4 * kDay + 630, 0.5);
  ASSERT_EQ(service.began().size(), 1U);
  EXPECT_LE(service.began()[0], 4 * kDay + 610);
  const SeasonVerdict& verdict = service.season().latest();
  ASSERT_GE(verdict.top_count, 2U);
  for (std::size_t i = 0; i < verdict.top_count; ++i) {
    const auto& low = verdict.top[i];
    EXPECT_NE(low.slot, 2U) << "a gauge is no rate";
    EXPECT_LT(low.score, -1);
    if (low.slot != 0) continue;
    EXPECT_NEAR(low.value / low.usual, 0.5, 0.1);
  }
  service.until(4 * kDay + 660);
  ASSERT_EQ(service.ended().size(), 1U);
  EXPECT_LE(service.ended()[0], 4 * kDay + 642);
}

TEST(Season, findsASlowDropAndNoRise) {
  Service service;
  service.until(4 * kDay + 300);
  for (int i = 1; i <= 20; ++i) service.until(4 * kDay + 300 + i, 1 + 0.1 * i);
  service.until(4 * kDay + 600, 3);
  service.until(4 * kDay + 700);
  EXPECT_TRUE(service.began().empty());
  for (int i = 1; i <= 20; ++i) service.until(4 * kDay + 700 + i, 1 - 0.025 * i);
  service.until(4 * kDay + 750, 0.5);
  EXPECT_EQ(service.began().size(), 1U);
}

TEST(Season, anAnomalyTeachesNothing) {
  Service service;
  service.withoutWeekends();
  for (std::int64_t day = 0; day < 8; ++day) {
    service.until(day * kDay + 600);
    service.until(day * kDay + 650, day >= 3 ? 0.4 : 1);
  }
  EXPECT_EQ(service.began().size(), 5U) << "each day anew";
}

TEST(Season, weekendsAreUnusualOnceAndHolidaysForAnHour) {
  Service service;
  service.until(5 * kDay);
  service.until(7 * kDay);
  EXPECT_GE(service.began().size(), 1U);
  EXPECT_LE(service.began().size(), 2U);
  const std::size_t first = service.began().size();
  service.until(23 * kDay);
  EXPECT_EQ(service.began().size(), first);
  service.until(24 * kDay, 0.4);
  ASSERT_EQ(service.began().size(), first + 1);
  EXPECT_EQ(service.ended().size(), first + 1);
  EXPECT_LE(service.ended().back() - service.began().back(), 61);
  service.until(35 * kDay);
  EXPECT_EQ(service.began().size(), first + 1);
}

TEST(Season, aDropDuringAnExceptionIsFound) {
  Service service;
  service.until(23 * kDay);
  const std::size_t before = service.began().size();
  service.until(23 * kDay + 600, 0.4);
  ASSERT_EQ(service.began().size(), before + 1);
  service.until(23 * kDay + 640, 0.1);
  EXPECT_EQ(service.began().size(), before + 2);
}

TEST(Season, trafficThatHasFallenForGoodIsNoAlarmForEver) {
  Service service;
  service.withoutWeekends();
  service.until(15 * kDay);
  service.until(60 * kDay, 0.4);
  EXPECT_EQ(service.began().size(), 1U);
  EXPECT_FALSE(service.season().latest().anomalous);
  service.until(60 * kDay + 60, 0.15);
  EXPECT_EQ(service.began().size(), 2U);
}

TEST(Season, trafficThatHasFallenForGoodIsTheUsualAfterAWeek) {
  Service service;
  service.withoutWeekends();
  service.until(15 * kDay);
  service.until(27 * kDay, 0.4);
  EXPECT_EQ(service.began().size(), 1U);
  EXPECT_TRUE(service.season().latest().judged);
  service.until(27 * kDay + 30, 0.24);
  ASSERT_EQ(service.began().size(), 2U);
  const SeasonVerdict& verdict = service.season().latest();
  ASSERT_GE(verdict.top_count, 1U);
  EXPECT_NEAR(verdict.top[0].value / verdict.top[0].usual, verdict.top[0].slot == 3 ? 0.36 : 0.6,
              0.1);
}

TEST(Season, eachAnomalyBeginsBeforeItEnds) {
  Service service;
  service.replace(Season(kRates, 1));
  service.until(4 * kDay + 600);
  service.until(4 * kDay + 640, 0.5);
  EXPECT_GE(service.began().size(), 1U);
  EXPECT_EQ(service.ended().size(), service.began().size());
}

TEST(Season, isKeptOverARestart) {
  Service service;
  service.until(4 * kDay + 600);
  Season read(std::vector<bool>(kRates.size()), kHour);
  ASSERT_TRUE(readInto(read, written(service.season())));
  EXPECT_EQ(written(read), written(service.season()));
  service.replace(std::move(read));
  service.until(4 * kDay + 700);
  EXPECT_TRUE(service.season().latest().judged);
  EXPECT_TRUE(service.began().empty());
  service.until(4 * kDay + 730, 0.5);
  EXPECT_EQ(service.began().size(), 1U);
}

TEST(Season, whatIsDamagedIsRefused) {
  Service service;
  service.until(kDay + 600);
  const std::string bytes = written(service.season());
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    Season read(std::vector<bool>(kRates.size()), kHour);
    EXPECT_FALSE(readInto(read, std::string_view(bytes).substr(0, size))) << size;
  }
  Season wider(std::vector<bool>(kRates.size() + 1), kHour);
  EXPECT_FALSE(readInto(wider, bytes));
  std::size_t taken = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    Season read(std::vector<bool>(kRates.size()), kHour);
    if (!readInto(read, damaged)) continue;
    ++taken;
    const std::vector<double> sample(kRates.size(), 1);
    for (Nanos minute = 0; minute < 8; ++minute) {
      const Nanos at_mono = (kDay + 600 + minute) * kMinute;
      read.observe({at_mono, kMonday + at_mono}, sample);
    }
  }
  EXPECT_GT(taken, 0U);
  EXPECT_LT(taken, bytes.size());
}

TEST(Season, aClockThatIsSetDoesNoHarm) {
  for (const Nanos hours : {-7, 7, -30, 30}) {
    Service service;
    service.withoutWeekends();
    service.until(6 * kDay + 360);  // the traffic is at its highest
    service.setClock(hours * kHour * 10 * kSecond);
    service.until(6 * kDay + 900);
    service.setClock(0);
    service.until(10 * kDay + 300);
    EXPECT_TRUE(service.began().empty()) << hours;
    service.until(10 * kDay + 330, 0.5);
    EXPECT_EQ(service.began().size(), 1U) << hours;
  }
}

TEST(Season, aClockThatWentBackWhileNobodyWatchedIsNotTrusted) {
  Service service;
  service.until(4 * kDay + 600);
  Season read(std::vector<bool>(kRates.size()), kHour);
  ASSERT_TRUE(readInto(read, written(service.season())));
  service.replace(std::move(read));
  service.setClock(-3 * 3600 * kSecond);
  service.until(4 * kDay + 610);
  EXPECT_FALSE(service.season().latest().judged);
}

TEST(Season, survivesGapsAndMissingValues) {
  Service service;
  service.until(4 * kDay);
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> missing(kRates.size(), none);
  const std::vector<double> zeros(kRates.size(), 0);
  for (Nanos minute = 0; minute < 60; ++minute) {
    const Nanos mono = (4 * kDay + minute) * kMinute;
    service.season().observe({mono, kMonday + mono}, missing);
    EXPECT_FALSE(service.season().latest().anomalous);
  }
  for (Nanos minute = 300; minute < 320; ++minute) {
    const Nanos mono = (4 * kDay + minute) * kMinute;
    service.season().observe({mono, kMonday + mono}, zeros);
  }
  EXPECT_TRUE(service.season().latest().anomalous) << "no traffic at all is a drop";
}

TEST(Season, ratesMayComeAndGo) {
  Service service;
  service.until(4 * kDay + 600);
  // One stays, one is new, and one is another.
  Season next({true, true, true}, kHour);
  next.takeOver(service.season(), std::vector<std::size_t>{1, kNewSlot, kNewSlot});
  std::vector<double> sample(3);
  const auto observe = [&](std::int64_t from, std::int64_t until, double part) {
    for (std::int64_t minute = from; minute < until; ++minute) {
      const Nanos mono = minute * kMinute;
      const auto time = static_cast<double>(minute % kDay) / static_cast<double>(kDay);
      const double traffic = 2000 * std::exp(0.5 * std::sin(2 * std::numbers::pi * time)) * part;
      next.observe({mono, kMonday + mono}, std::vector<double>{traffic, traffic / 3, traffic * 9});
    }
  };
  observe(4 * kDay + 600, 4 * kDay + 700, 1);
  EXPECT_TRUE(next.latest().judged);
  EXPECT_LT(next.latest().score, 1);
  observe(4 * kDay + 700, 4 * kDay + 720, 0.5);
  EXPECT_TRUE(next.latest().anomalous);
  Season other({true}, kHour);
  other.takeOver(next, std::vector<std::size_t>{kNewSlot});
  EXPECT_FALSE(other.latest().anomalous) << "none of the rates is the same";
}

TEST(Season, aGroupWithoutRatesHasNone) {
  Season season({false, false}, kHour);
  for (Nanos minute = 0; minute < 5 * kDay; ++minute) {
    season.observe({minute * kMinute, kMonday + minute * kMinute}, std::vector<double>{1, 2});
  }
  EXPECT_FALSE(season.latest().judged);
}

}  // namespace
}  // namespace pingloom::collector::analytics::season_test
