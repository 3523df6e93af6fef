// Shows readings as the metrics of one application on metric pages. One thread.
//
// A counter only grows, as its page requires: if what was read falls, because a device was removed
// and made again under its name within a round, it counts on from what it showed. What is no longer
// read is removed; if it comes back, it is a new metric. Label values that pages do not take are
// left out, which is logged once.
// Bound: kMaxSeries metrics, which take 17 pages. Those that were removed count until their slots
// may be used again, kRestsFor later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
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
  // The pages let slots rest for 60 s after the agent has heard of a removal, which takes a moment.
  static constexpr Nanos kRestsFor = 62 * kSecond;
  // A metric that pages did not take is tried again after so long: applications may have freed the
  // pages that it needs.
  static constexpr Nanos kRetryAfter = 60 * kSecond;

  // `socket` belongs to this host's page service.
  ShownReadings(const std::string& application, const std::filesystem::path& socket);

  // Shows the readings of a round; whatever is not among them is gone. `now` is monotonic and grows
  // with each round.
  void show(const Readings& readings, Nanos now);
  // Returns how many readings of the last round are not shown, because pages do not take them or
  // because of kMaxSeries.
  std::size_t refused() const { return refused_; }

 private:
  struct Series {
    std::string name;
    Labels labels;
    SharedCounter counter;
    Gauge gauge;
    Kind kind = Kind::kGauge;
    bool refused = false;    // pages do not take it
    Nanos tried = 0;         // when it was made, or refused last
    std::uint64_t base = 0;  // what the counter showed before it was reset
    std::uint64_t last = 0;  // what was read last
    Nanos seen = 0;          // the last round that read it
  };
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
    std::size_t operator()(std::string_view key) const {
      return std::hash<std::string_view>()(key);
    }
  };

  void make(const Reading& reading, Series& series, Nanos now);
  void set(const Reading& reading, Nanos now);
  void removeGone(Nanos now);

  Pages pages_;
  std::unordered_map<std::string, Series, Hash, std::equal_to<>> series_;
  std::deque<Nanos> removed_;  // when metrics were removed whose slots rest
  std::string key_;            // scratch memory
  std::size_t refused_ = 0;
  bool logged_ = false;
};

}  // namespace pingloom::agent::system
