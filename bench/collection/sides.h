// Two ways of collecting the same metrics. Each serves them from a process of its own, on the same
// core as this one.
#pragma once

namespace pingloom::bench {

struct Shape {
  int applications = 0;
  int metrics = 0;  // counters of each application
};

struct Collected {
  double seconds = 0;
  double metrics = 0;  // values read and checked, or parsed
  double rounds = 0;   // rounds over all metrics
  double pages = 0;    // 4 KiB pages read
  double read_bytes = 0;
  double useful_bytes = 0;
  double host_cpu = 0;       // seconds of the process that has the metrics and serves them
  double collector_cpu = 0;  // seconds of this process
};

// Reads metric pages over soft devices, round after round.
Collected collectPages(const Shape& shape, double seconds);
// Scrapes an HTTP endpoint of prometheus-cpp for each application, one after the other. It counts
// the answers' lines and does not parse them.
Collected scrapeEndpoints(const Shape& shape, double seconds);

}  // namespace pingloom::bench
