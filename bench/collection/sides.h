// The two ways of collecting the same metrics, each from a process of its own on the same core.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace pingloom::bench {

struct Shape {
  int applications = 0;
  int metrics = 0;  // counters, of each application
};

struct Collected {
  double seconds = 0;
  double metrics = 0;  // values read and checked, or parsed
  double rounds = 0;   // of all metrics
  double pages = 0;    // 4 KiB pages read
  double read_bytes = 0;
  double useful_bytes = 0;
  double host_cpu = 0;       // seconds of the process that has the metrics (and serves them)
  double collector_cpu = 0;  // of this one
};

// Metric pages over soft devices, read round after round.
Collected collectPages(const Shape& shape, double seconds);
// An HTTP endpoint of prometheus-cpp for each application, scraped one after the other; the
// answers' lines are counted, not parsed.
Collected scrapeEndpoints(const Shape& shape, double seconds);

// A process on the bench's core that runs `serve` until it is killed; returns when it has called
// ready().
class Serving {
 public:
  using Ready = void (*)(int);
  template <typename Serve>
  explicit Serving(Serve serve);
  ~Serving();
  double cpuSeconds() const;

 private:
  pid_t pid_ = -1;
};

void pinToOneCore();
double ownCpuSeconds();

}  // namespace pingloom::bench

#include "serving.h"
