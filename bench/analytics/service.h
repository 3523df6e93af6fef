// The metrics of a synthetic service: what each would be at a load, and how much it scatters there.
// Latencies and queues grow without bound towards saturation, the scatter grows with the load, and
// some metrics lag behind it, follow nothing, or hardly ever move.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "random.h"

namespace pingloom::bench {

enum class Form : std::uint8_t {
  kTraffic,
  kCpu,
  kLatency,  // a histogram's mean or one of its quantiles
  kReplica,  // the latency of one of four replicas
  kQueue,    // a whole number
  kMemory,   // follows the load and a slow walk of its own
  kRatio,    // falls with the load
  kLagged,   // follows the load's last ten minutes
  kCron,     // has a burst every five minutes
  kAlone,    // follows nothing
  kBursts,   // follows nothing and has a burst now and then
  kRare,     // is zero until the service is busy
  kJoins,    // is zero except for one sample in two hours
};

constexpr std::array kForms = {
    Form::kTraffic, Form::kTraffic, Form::kTraffic, Form::kTraffic, Form::kCpu,     Form::kCpu,
    Form::kLatency, Form::kLatency, Form::kLatency, Form::kReplica, Form::kReplica, Form::kReplica,
    Form::kReplica, Form::kQueue,   Form::kMemory,  Form::kRatio,   Form::kLagged,  Form::kCron,
    Form::kAlone,   Form::kBursts,  Form::kRare,    Form::kJoins};
constexpr std::size_t kMetrics = kForms.size();

// The load from 0 to 1, with a season of a day.
class Load {
 public:
  explicit Load(Random& random) : phase_(random.uniform()), second_(random.uniform()) {}
  double next(std::size_t now, Random& random);

 private:
  double phase_, second_;
  Wander slow_{600}, middle_{60}, quick_{5};
};

struct Usual {
  double value = 0;
  double scatter = 0;  // standard deviation
};

// One metric; it keeps its own walks, so every sample asks for it once.
class ServiceMetric {
 public:
  ServiceMetric(Form form, Random& random);
  Usual usual(double load, double lagged, std::size_t now, Random& random);
  double unit() const { return unit_; }
  Form form() const { return form_; }

 private:
  Form form_;
  double unit_;
  double steepness_;
  double scatter_;
  Wander own_;
};

}  // namespace pingloom::bench
