// What the watch of pages says, as plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.h"

namespace pingloom::collector {

// A metric that is unusual, and how.
struct Deviation {
  std::string metric;           // its name with its labels
  std::string part;             // of a histogram or summary: "rate", "mean", "p99"; "" otherwise
  std::string_view statistic;   // in which it is unusual: docs/analytics.md, "season" or "peers"
  double score = 0;             // unusual above 1; negative if the value is too low
  double value = 0;             // a counter's is its rate per second
  std::optional<double> peers;  // the median of the replicas, where they are compared
  std::optional<double> usual;  // what it is at this time of the week, where that is compared
};

// An application that is anomalous now, and why.
struct Anomaly {
  std::string application;
  std::uint32_t pid = 0;
  std::uint64_t owner = 0;
  std::vector<Deviation> deviations;
};

// How an application that is watched is doing.
struct WatchState {
  bool judged = false;  // false while it is being learned
  bool anomalous = false;
  double score = 0;                   // unusual above 1; valid if it is judged
  std::vector<Deviation> deviations;  // of an anomaly
};

// Whether an application is anomalous now, and on which hosts.
struct ApplicationState {
  bool known = false;  // whether it is watched
  std::set<std::string> anomalous_hosts;
};

// The beginning or end of a limit violation or an anomaly.
struct WatchEvent {
  Nanos utc = 0;
  std::string host, application;
  std::uint32_t pid = 0;
  std::uint64_t owner = 0;
  std::string kind;                   // "limit" or "anomaly"
  bool began = false;                 // false if it ended
  std::string_view statistic;         // the statistic of an anomaly that began; "" otherwise
  std::string metric;                 // the metric concerned, or the one that deviates most
  double value = 0;                   // the metric's value, or the score of an anomaly
  double limit = 0;                   // 1 for an anomaly
  std::vector<Deviation> deviations;  // of an anomaly that began, in descending order
};

}  // namespace pingloom::collector
