// Two ways in which the values of pods are read that come and go.
#pragma once

#include <cstdint>
#include <vector>

#include "common/time.h"
#include "pods.h"

namespace pingloom::bench {

struct Churned {
  std::uint64_t started = 0;
  std::vector<double> delays;  // seconds from a pod's start to the read of its first value
  double pods_cpu = 0;         // seconds, of all pods
  double agent_cpu = 0;        // of the process that serves their pages
  double reader_cpu = 0;       // of what reads them
  double agent_bytes = 0;      // resident when all pods have ended
  double reader_bytes = 0;
};

// Pods with a metric page each, read every 100 ms by a collector's reader over soft devices.
Churned churnPages(const Churn& churn);
// Pods with an HTTP endpoint of prometheus-cpp each, scraped every second by Prometheus, which
// finds them in a file that names the pods that live. Prometheus keeps what it has scraped in a
// temporary folder, which is removed however the benchmark ends.
Churned churnEndpoints(const Churn& churn);

}  // namespace pingloom::bench
