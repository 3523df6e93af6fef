// Two ways of collecting the same metrics. Each serves them from processes of their own, on the
// same cores as this one.
#pragma once

namespace pingloom::bench {

struct Shape {
  int applications = 0;  // of each host
  int metrics = 0;       // counters of each application
};

struct Collected {
  double seconds = 0;
  double metrics = 0;  // values read and checked, or parsed
  double rounds = 0;   // rounds over all metrics of a host
  double slowest = 0;  // metrics a second in the slowest second; only of pages
  double read_bytes = 0;
  double useful_bytes = 0;
  double host_cpu = 0;       // seconds of the processes that have the metrics and serve them
  double collector_cpu = 0;  // seconds of this process
};

// Reads the metric pages of `hosts` agents over soft devices, round after round, with so many
// readers at one address.
Collected collectPages(const Shape& shape, double seconds, int hosts = 1, int readers = 1);
// Scrapes an HTTP endpoint of prometheus-cpp for each application, one after the other. It counts
// the answers' lines and does not parse them.
Collected scrapeEndpoints(const Shape& shape, double seconds);

}  // namespace pingloom::bench
