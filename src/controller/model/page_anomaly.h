// What collectors say is unusual about applications now.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/time.h"

namespace pingloom::controller {

// The metric that deviates most of an application that is anomalous. Texts come from outside; they
// have at most kMaxText bytes and no control characters. docs/collector.md explains the members.
struct PageAnomaly {
  static constexpr std::size_t kMaxText = 120;

  std::string host;
  std::string application;
  std::string metric;  // with its labels
  std::string part;    // of a histogram; "" otherwise
  std::string statistic;
  double score = 0;             // unusual above 1; negative if the value is too low
  std::optional<double> value;  // nullopt if it has none
  std::optional<double> peers;  // the replicas' median; nullopt if they are not compared
};

// Collectors' threads write it, and the control thread reads it. Any thread. Bound: kMaxAnomalies
// of each collector.
class PageAnomalies {
 public:
  static constexpr std::size_t kMaxAnomalies = 1'000;
  // How long an answer of a collector counts.
  static constexpr Nanos kValid = 20 * kSecond;

  // Replaces what the collector has said before. `url` identifies the collector.
  void set(const std::string& url, std::vector<PageAnomaly> anomalies, Nanos now_mono);
  // Returns those of a host. If several collectors read it, the first one that has any counts.
  std::vector<PageAnomaly> of(const std::string& host, Nanos now_mono) const;

 private:
  struct Said {
    Nanos when_mono = 0;
    std::vector<PageAnomaly> anomalies;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Said> said_;  // by URL; answers older than kValid are dropped
};

}  // namespace pingloom::controller
