// A page that tests of the watch read, and settings with which little is enough to learn it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "collector/watch/owner_watch.h"

namespace pingloom::collector::watched {

constexpr std::uint64_t kOwner = 7;

// A page with a counter and gauges that follow one hidden load, as an application's do.
class WatchedPage {
 public:
  explicit WatchedPage(std::size_t gauges = 7) : gauges_(gauges) {
    auto info = std::make_shared<PageInfo>();
    info->generation = 1;
    info->owner = kOwner;
    info->application = "queue";
    info->process = 42;
    info->schema.push_back({PINGLOOM_COUNTER, false, 0, 1, {}, 1, "jobs_total", "", {}});
    for (std::size_t i = 1; i <= gauges; ++i) {
      info->schema.push_back({PINGLOOM_GAUGE,
                              false,
                              static_cast<std::uint16_t>(i),
                              1,
                              {},
                              1,
                              "depth",
                              "",
                              {{"queue", std::to_string(i)}}});
    }
    info->schema_version = 1;
    info->slots = 1 + gauges;
    view_.info = info;
    view_.state = PageState::kFresh;
    view_.slots = static_cast<std::uint32_t>(info->slots);
    view_.values.assign(info->slots, 0);
  }

  // A second later, with so many jobs more; the gauge `broken` does not follow the load.
  PagesOfOwner next(std::uint64_t jobs, std::size_t broken = 0) {
    view_.read += kSecond;
    view_.values[0] += jobs;
    const double load = normal_(random_);
    for (std::size_t i = 1; i <= gauges_; ++i) {
      const double own = static_cast<double>(i) * (10 + load) + 0.1 * normal_(random_);
      view_.values[i] = std::bit_cast<std::uint64_t>(i == broken ? own + 100 : own);
    }
    return {&view_};
  }
  PageView& view() { return view_; }
  // Adds a gauge.
  void grow() {
    auto info = std::make_shared<PageInfo>(*view_.info);
    pages::Metric more = info->schema.back();
    ++more.first_slot;
    more.labels[0].second = std::to_string(++gauges_);
    info->schema.push_back(std::move(more));
    ++info->schema_version;
    info->slots = ++view_.slots;
    view_.values.push_back(0);
    view_.info = info;
  }
  // Removes a gauge from the middle.
  void shrink() {
    auto info = std::make_shared<PageInfo>(*view_.info);
    info->schema.erase(info->schema.begin() + 2);
    ++info->schema_version;
    view_.info = info;
  }
  // Another process has the page from now on.
  void restart() {
    auto info = std::make_shared<PageInfo>(*view_.info);
    ++info->generation;
    ++info->owner;
    ++info->process;
    view_.values.assign(view_.values.size(), 0);
    view_.info = info;
  }

 private:
  std::size_t gauges_;
  PageView view_;
  std::mt19937 random_{1};
  std::normal_distribution<double> normal_;
};

inline WatchSettings quickSettings() {
  WatchSettings settings;
  settings.subspace.directions = 8;
  settings.subspace.max_rank = 4;
  settings.subspace.warm_up = 120;
  return settings;
}

}  // namespace pingloom::collector::watched
