// Shows readings as the metrics of one application on metric pages. One thread.
//
// A counter only grows, as its page requires: if what was read falls, because a device was removed
// and made again under its name, it counts on from what it showed. Pages have no way to remove a
// metric. A gauge that is no longer read becomes NaN and a counter stands still; after
// kForgetAfter all pages are made anew without them, which readers see as an application that
// ended and started. Label values that pages do not take are left out, which is logged once.
// Bound: kMaxSeries metrics, which take 17 pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <pingloom/pages.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "agent/system/readings.h"
#include "common/time.h"

namespace pingloom::agent::system {

class ShownReadings {
 public:
  static constexpr std::size_t kMaxSeries = 8192;
  static constexpr Nanos kForgetAfter = 60 * kSecond;
  // A metric that pages did not take is tried again after so long: applications may have freed the
  // pages that it needs.
  static constexpr Nanos kRetryAfter = 60 * kSecond;

  // `socket` belongs to this host's page service.
  ShownReadings(std::string application, std::filesystem::path socket);

  // Shows the readings of a round; whatever is not among them is gone. `now` is monotonic and grows
  // with each round.
  void show(const Readings& readings, Nanos now);
  // Returns how many readings of the last round are not shown, because pages do not take them or
  // because of kMaxSeries.
  std::size_t refused() const { return refused_; }

 private:
  struct Series {
    SharedCounter counter;
    Gauge gauge;
    Kind kind = Kind::kGauge;
    bool refused = false;     // pages do not take it
    Nanos tried = 0;          // when it was made, or refused last
    std::uint64_t base = 0;   // what the counter showed before it was reset
    std::uint64_t last = 0;   // what was read last
    Nanos seen = 0;           // the last round that read it
    std::uint64_t pages = 0;  // the number of the pages that it is on
  };
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    std::size_t operator()(std::string_view key) const {
      return std::hash<std::string_view>()(key);
    }
  };

  void openPages();
  void make(const Reading& reading, Series& series, Nanos now);
  void set(const Reading& reading, Nanos now);
  // Returns whether something has been gone for kForgetAfter.
  bool hideGone(Nanos now);

  const std::string application_;
  const std::filesystem::path socket_;
  std::unique_ptr<Pages> pages_;
  std::uint64_t pages_number_ = 0;
  std::unordered_map<std::string, Series, Hash, std::equal_to<>> series_;
  std::string key_;  // scratch memory
  std::size_t refused_ = 0;
  bool logged_ = false;
};

}  // namespace pingloom::agent::system
