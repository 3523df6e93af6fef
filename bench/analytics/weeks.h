// Weeks of a synthetic service (service.h): days and weekends, a batch job each night, a holiday,
// and slow drops of its traffic. Samples are made one after the other, because weeks of them do not
// fit into memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "random.h"
#include "service.h"

namespace pingloom::bench {

constexpr std::size_t kDayLong = 86400;  // samples, one a second

struct Drop {
  std::size_t begin = 0;  // falls to half within kFalls
  std::size_t end = 0;    // is over, after it has risen again

  static constexpr std::size_t kFalls = 1200;
  static constexpr std::size_t kStays = 2400;
};

struct WeeksShape {
  std::size_t days = 28;
  std::size_t quiet = 4;     // days before the first drop
  std::size_t holiday = 23;  // this day has the traffic of a weekend; a Wednesday
  // How far the traffic wanders within ten minutes, as a share of itself: its standard deviation.
  double wander = 0.05;
};

class Weeks {
 public:
  static constexpr std::size_t kJobBegins = 2 * 3600;  // each night
  static constexpr std::size_t kJobTakes = 1200;

  Weeks(const WeeksShape& shape, std::uint64_t seed);

  // The next sample: an element for each of kMetrics. The first one is that of midnight of a
  // Monday.
  const std::array<double, kMetrics>& next();
  const std::vector<Drop>& drops() const { return drops_; }
  static bool weekend(std::size_t now) { return now / kDayLong % 7 >= 5; }

 private:
  double load();
  double courseOfDay() const;
  double dropped() const;

  WeeksShape shape_;
  Random random_;
  std::vector<Drop> drops_;
  std::vector<double> days_;  // by how much a day differs from others
  std::vector<ServiceMetric> metrics_;
  double phase_, second_;  // of the day's course
  Wander slow_{600}, quick_{5};
  std::size_t now_ = 0;
  std::size_t drop_ = 0;  // the current drop, or the next one
  double lagged_ = 0.4;
  std::array<double, kMetrics> sample_{};
};

// The slots of kForms that are rates.
std::vector<bool> ratesOfService();

}  // namespace pingloom::bench
