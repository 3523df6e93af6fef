#include "stationary.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "collector/watch/owner_watch.h"
#include "evaluation.h"
#include "random.h"

namespace pingloom::bench {

namespace {

using collector::OwnerWatch;

constexpr pingloom_histogram_shape kShape{10, 24, 2};

class Histogram {
 public:
  explicit Histogram(Random& random)
      : rate_(std::pow(10, random.between(1, 2.7))),
        size_(std::pow(10, random.between(3.5, 5.5))),
        spread_(random.between(0.1, 1)) {}

  // Adds the values of a second to the slots.
  void step(std::uint64_t* slots, Random& random) const {
    const double count = std::round(rate_ + std::sqrt(rate_) * random.normal());
    for (double i = 0; i < count; ++i) {
      const auto value = static_cast<std::uint64_t>(size_ * std::exp(spread_ * random.normal()));
      slots[0] += value;
      ++slots[1 + pingloom_histogram_bucket(kShape, value)];
    }
  }

 private:
  double rate_;
  double size_;
  double spread_;
};

collector::PageView pageOf(std::size_t histograms) {
  const auto slots = static_cast<std::uint16_t>(pingloom_histogram_slots(kShape));
  auto info = std::make_shared<collector::PageInfo>();
  info->generation = info->schema_version = 1;
  info->application = "service";
  for (std::size_t i = 0; i < histograms; ++i) {
    const auto first = static_cast<std::uint16_t>(i * slots);
    info->schema.push_back({PINGLOOM_HISTOGRAM,
                            false,
                            first,
                            slots,
                            kShape,
                            1e-6,
                            "seconds_" + std::to_string(i),
                            "",
                            {}});
  }
  info->slots = static_cast<std::uint16_t>(histograms * slots);
  collector::PageView page;
  page.slots = info->slots;
  page.values.assign(page.slots, 0);
  page.info = std::move(info);
  page.state = collector::PageState::kFresh;
  return page;
}

}  // namespace

std::uint64_t falseAlarms(const Stationary& shape, std::uint64_t seed) {
  Random random(seed);
  std::vector<Histogram> histograms;
  for (std::size_t i = 0; i < shape.histograms; ++i) histograms.emplace_back(random);
  collector::PageView page = pageOf(shape.histograms);
  const std::size_t slots = page.slots / shape.histograms;
  const auto watch = OwnerWatch::make({&page}, {});
  std::vector<collector::WatchEvent> events;
  for (std::size_t now = 0; now < shape.samples; ++now) {
    for (std::size_t i = 0; i < shape.histograms; ++i) {
      histograms[i].step(page.values.data() + i * slots, random);
    }
    page.read += kSecond;
    watch->observe({&page}, events);
    watch->fit(kFitRows);
  }
  return static_cast<std::uint64_t>(
      std::count_if(events.begin(), events.end(), [](const auto& event) { return event.began; }));
}

}  // namespace pingloom::bench
