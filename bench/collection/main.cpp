// How fast metrics are collected, and what it costs: metric pages over the soft device, and the
// same metrics from HTTP endpoints of prometheus-cpp, applications and collector on one core.
// Usage: collection_bench [RUNS] [SECONDS]. A median of RUNS runs, with the smallest and the
// largest.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>

#include "common/log.h"
#include "sides.h"

namespace {

using pingloom::bench::Collected;
using pingloom::bench::Shape;

struct Spread {
  double median = 0, least = 0, most = 0;
};

Spread spreadOf(const std::vector<Collected>& runs,
                const std::function<double(const Collected&)>& of) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const Collected& run : runs) values.push_back(of(run));
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

void print(const char* way, const Shape& shape, const std::vector<Collected>& runs) {
  const Spread rate =
      spreadOf(runs, [](const Collected& run) { return run.metrics / run.seconds; });
  const Spread pages = spreadOf(runs, [](const Collected& run) { return run.pages / run.seconds; });
  const Spread sweep =
      spreadOf(runs, [](const Collected& run) { return run.seconds / run.rounds * 1e3; });
  const Spread host =
      spreadOf(runs, [](const Collected& run) { return run.host_cpu / run.metrics * 1e9; });
  const Spread collector =
      spreadOf(runs, [](const Collected& run) { return run.collector_cpu / run.metrics * 1e9; });
  const Spread useful = spreadOf(runs, [](const Collected& run) {
    return run.useful_bytes == 0 ? 0 : run.useful_bytes / run.read_bytes;
  });
  fmt::print(
      "{:<8} {:>4} x {:<5} {:>8.3f} M/s ({:.3f}..{:.3f})  {:>8.0f} pages/s  sweep {:>8.3f} ms  "
      "host {:>7.1f} ns  collector {:>7.1f} ns a metric  useful {:>4.1f} %\n",
      way, shape.applications, shape.metrics, rate.median / 1e6, rate.least / 1e6, rate.most / 1e6,
      pages.median, sweep.median, host.median, collector.median, useful.median * 100);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 5;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 1.0;
  pingloom::log::init("collection_bench", pingloom::log::Level::kWarning);
  pingloom::bench::pinToOneCore();
  // MicroView's two axes, and pages that are full.
  std::vector<Shape> shapes = {{8, 16},  {8, 64},   {8, 128},  {8, 256}, {16, 64},
                               {64, 64}, {128, 64}, {256, 64}, {64, 504}};
  for (const Shape& shape : shapes) {
    std::vector<Collected> pages, scrapes;
    for (int run = 0; run < runs; ++run) {
      pages.push_back(pingloom::bench::collectPages(shape, seconds));
      scrapes.push_back(pingloom::bench::scrapeEndpoints(shape, seconds));
    }
    print("pages", shape, pages);
    print("scrape", shape, scrapes);
  }
}
