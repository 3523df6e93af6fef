// Measures what an update of a metric costs, compared in the same run with prometheus-cpp doing the
// same, a bare volatile increment and a bare atomic add.
#include <fmt/format.h>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/program_options.hpp>
#include <cmath>
#include <cstdint>
#include <pingloom/pages.hpp>
#include <random>
#include <string>
#include <vector>

#include "common/program.h"
#include "cost.h"

namespace {

using pingloom::bench::CostTable;

constexpr unsigned kMaxThreads = 2;

// Calls `update(i)` that often. `update` is passed by value so that it stays in registers.
template <typename Update>
void repeat(std::uint64_t operations, Update update) {
  for (std::uint64_t i = 0; i < operations; ++i) update(i);
}

std::string named(const std::string& what, unsigned thread) {
  return what + "_" + std::to_string(thread);
}

// Makes latencies in nanoseconds, most of them around 100 us.
std::array<std::uint64_t, 4096> latencies() {
  std::array<std::uint64_t, 4096> values;
  std::mt19937 random(1);
  std::lognormal_distribution<double> distribution(std::log(1e5), 1.5);
  for (auto& value : values) value = static_cast<std::uint64_t>(distribution(random));
  return values;
}
const std::array<std::uint64_t, 4096> latency_values = latencies();
std::uint64_t latency(std::uint64_t i) { return latency_values[i % latency_values.size()]; }

struct alignas(64) Line {
  volatile std::uint64_t plain = 0;
  std::atomic<std::uint64_t> shared{0};
};
std::array<Line, kMaxThreads> lines;

void addLimits(CostTable& table, unsigned threads) {
  table.add("limit: volatile increment, a thread's own", threads,
            [](unsigned thread, std::uint64_t n) {
              repeat(n, [own = &lines[thread]](std::uint64_t) { own->plain = own->plain + 1; });
            });
  table.add("limit: atomic add, one for all threads", threads, [](unsigned, std::uint64_t n) {
    repeat(n, [](std::uint64_t) { lines[0].shared.fetch_add(1, std::memory_order_relaxed); });
  });
}

void addOurs(CostTable& table, pingloom::Pages& pages, unsigned threads) {
  std::vector<pingloom::Counter> own, neighbours;
  std::vector<pingloom::Histogram> histograms;
  for (unsigned i = 0; i < threads; ++i) {
    pingloom::MetricOptions alone{named("own_total", i)};
    alone.own_line = true;
    own.push_back(pages.counter(alone));
    neighbours.push_back(pages.counter({named("neighbours_total", i)}));
    pingloom::MetricOptions took{named("own_seconds", i)};
    took.own_line = true;
    took.unit = 1e-9;
    histograms.push_back(pages.histogram(took));
  }
  table.add("counter, a thread's own", threads, [own](unsigned thread, std::uint64_t n) {
    repeat(n, [counter = own[thread]](std::uint64_t) { counter.add(); });
  });
  if (threads > 1) {
    table.add("counters of both threads on one cache line", threads,
              [neighbours](unsigned thread, std::uint64_t n) {
                repeat(n, [counter = neighbours[thread]](std::uint64_t) { counter.add(); });
              });
  }
  const auto shared = pages.sharedCounter({"shared_total"});
  table.add("shared counter, one for all threads", threads, [shared](unsigned, std::uint64_t n) {
    repeat(n, [shared](std::uint64_t) { shared.add(); });
  });
  const auto gauge = pages.gauge({"gauge"});
  table.add("gauge set, one for all threads", threads, [gauge](unsigned, std::uint64_t n) {
    repeat(n, [gauge](std::uint64_t i) { gauge.set(static_cast<double>(i)); });
  });
  table.add("histogram of 98 buckets, a thread's own", threads,
            [histograms](unsigned thread, std::uint64_t n) {
              repeat(n, [histogram = histograms[thread]](std::uint64_t i) {
                histogram.observe(latency(i));
              });
            });
  pingloom::MetricOptions took{"shared_seconds"};
  took.unit = 1e-9;
  const auto histogram = pages.sharedHistogram(took);
  table.add("shared histogram of 98 buckets, one for all threads", threads,
            [histogram](unsigned, std::uint64_t n) {
              repeat(n, [histogram](std::uint64_t i) { histogram.observe(latency(i)); });
            });
  pingloom::MetricOptions with_exemplars{"traced_seconds"};
  with_exemplars.unit = 1e-9;
  with_exemplars.exemplars = true;
  const auto traced = pages.sharedHistogram(with_exemplars);
  table.add("shared histogram of 98 buckets, each value with an exemplar", threads,
            [traced](unsigned, std::uint64_t n) {
              const pingloom::Labels trace = {{"trace_id", "4bf92f3577b34da6a3ce929d0e0e4736"},
                                              {"span_id", "00f067aa0ba902b7"}};
              repeat(n, [traced, &trace](std::uint64_t i) { traced.observe(latency(i), trace); });
            });
}

void addPrometheus(CostTable& table, prometheus::Registry& registry, unsigned threads) {
  auto& counters = prometheus::BuildCounter().Name("counter_total").Register(registry);
  auto& gauge = prometheus::BuildGauge().Name("gauge").Register(registry).Add({});
  std::vector<prometheus::Counter*> own;
  for (unsigned i = 0; i < threads; ++i) own.push_back(&counters.Add({{"t", named("own", i)}}));
  table.add("prometheus-cpp counter, a thread's own", threads,
            [own](unsigned thread, std::uint64_t n) {
              repeat(n, [counter = own[thread]](std::uint64_t) { counter->Increment(); });
            });
  auto* shared = &counters.Add({});
  table.add("prometheus-cpp counter, one for all threads", threads,
            [shared](unsigned, std::uint64_t n) {
              repeat(n, [shared](std::uint64_t) { shared->Increment(); });
            });
  table.add("prometheus-cpp gauge set, one for all threads", threads,
            [&gauge](unsigned, std::uint64_t n) {
              repeat(n, [&gauge](std::uint64_t i) { gauge.Set(static_cast<double>(i)); });
            });
  auto& histograms = prometheus::BuildHistogram().Name("took_seconds").Register(registry);
  const pingloom_histogram_shape shape{10, 34, 2};
  prometheus::Histogram::BucketBoundaries same, usual;
  for (unsigned i = 0; i + 1 < pingloom_histogram_buckets(shape); ++i) {
    same.push_back(static_cast<double>(pingloom_histogram_upper(shape, i)) * 1e-9);
  }
  for (double bound = 1e-6; bound < 20; bound *= 5) usual.push_back(bound);
  for (const auto& bounds : {usual, same}) {
    const std::string name =
        fmt::format("prometheus-cpp histogram of {} buckets, ", bounds.size() + 1);
    std::vector<prometheus::Histogram*> each;
    for (unsigned i = 0; i < threads; ++i) {
      each.push_back(&histograms.Add({{"t", named(name, i)}}, bounds));
    }
    table.add(name + "a thread's own", threads, [each](unsigned thread, std::uint64_t n) {
      repeat(n, [histogram = each[thread]](std::uint64_t i) {
        histogram->Observe(static_cast<double>(latency(i)) * 1e-9);
      });
    });
    table.add(name + "one for all threads", threads, [each](unsigned, std::uint64_t n) {
      repeat(n, [histogram = each[0]](std::uint64_t i) {
        histogram->Observe(static_cast<double>(latency(i)) * 1e-9);
      });
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  unsigned runs = 9;
  po::options_description options("Options");
  options.add_options()("runs", po::value(&runs)->default_value(runs), "how many runs to make");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code =
          pingloom::program::parse({"pages_update_bench", "pages_update_bench [OPTIONS]",
                                    "Measures what an update of a metric costs."},
                                   arguments, options, {}, values)) {
    return *code;
  }
  CostTable table(std::max(1U, runs));
  pingloom::PagesOptions pages_options;
  pages_options.application = "bench";
  pingloom::Pages pages(pages_options);
  std::array<prometheus::Registry, kMaxThreads> registries;
  for (unsigned threads = 1; threads <= kMaxThreads; ++threads) {
    addLimits(table, threads);
    addOurs(table, pages, threads);
    addPrometheus(table, registries[threads - 1], threads);
  }
  for (unsigned threads = 1; threads <= kMaxThreads; ++threads) {
    table.compare("times faster than prometheus-cpp, counter, a thread's own",
                  "counter, a thread's own", "prometheus-cpp counter, a thread's own", threads);
    table.compare("times faster than prometheus-cpp, counter, one for all threads",
                  "shared counter, one for all threads",
                  "prometheus-cpp counter, one for all threads", threads);
  }
  table.measureAndPrint();
  return 0;
}
