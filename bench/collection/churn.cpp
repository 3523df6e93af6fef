// Measures how soon the values of pods are read that come and go: with metric pages, and with HTTP
// endpoints that Prometheus discovers.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "churn_sides.h"
#include "common/program.h"
#include "shared/figures.h"

namespace {

namespace po = boost::program_options;
using namespace pingloom;
using namespace pingloom::bench;

constexpr double kMiB = 1024 * 1024;

// REQUIRES: values is not empty.
double quantile(std::vector<double> values, double share) {
  const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + rank, values.end());
  return values[static_cast<std::size_t>(rank)];
}

bool add(const std::string& way, const Churned& found, Figures& figures) {
  if (found.delays.empty()) {
    std::fprintf(stderr, "%s: no pod was read\n", way.c_str());
    return false;
  }
  const auto started = static_cast<double>(found.started);
  const std::string row = way + " | ";
  figures.add(row + "start to first value read, p50", "s", quantile(found.delays, 0.5));
  figures.add(row + "start to first value read, p99", "s", quantile(found.delays, 0.99));
  figures.add(row + "pods read", "%", 100 * static_cast<double>(found.delays.size()) / started);
  figures.add(row + "CPU of a pod", "ms", 1e3 * found.pods_cpu / started);
  if (found.agent_cpu > 0) {
    figures.add(row + "CPU of the agent for a pod", "ms", 1e3 * found.agent_cpu / started);
  }
  figures.add(row + "CPU of the reader for a pod", "ms", 1e3 * found.reader_cpu / started);
  if (found.agent_bytes > 0) {
    figures.add(row + "memory of the agent at the end", "MiB", found.agent_bytes / kMiB);
  }
  figures.add(row + "memory of the reader at the end", "MiB", found.reader_bytes / kMiB);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int runs = 3;
  double rate = 100;
  int seconds = 60;
  int life = 8;
  po::options_description options("Options");
  options.add_options()("runs", po::value(&runs)->default_value(runs), "how many runs to make")(
      "rate", po::value(&rate)->default_value(rate), "pods that are started in a second")(
      "seconds", po::value(&seconds)->default_value(seconds), "how long pods are started")(
      "life", po::value(&life)->default_value(life), "seconds that a pod lives");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = program::parse(
          {"churn_bench", "churn_bench [OPTIONS]", "Measures how soon values of pods are read."},
          arguments, options, {}, values)) {
    return *code;
  }
  if (!(rate > 0) || seconds < 1 || life < 1) {
    std::fprintf(stderr, "churn_bench: --rate, --seconds and --life must be above 0\n");
    return 2;
  }
  if (seconds > Churn::kMaxSeconds || rate * life > Churn::kMaxAtOnce) {
    std::fprintf(stderr, "churn_bench: at most %d s, and %g pods that live at once\n",
                 Churn::kMaxSeconds, Churn::kMaxAtOnce);
    return 2;
  }
  const Churn churn{rate, life * kSecond, seconds * kSecond};
  std::printf("%g pods a second for %d s, each lives for %d s\n", rate, seconds, life);
  Figures figures;
  for (int i = 0; i < runs; ++i) {
    const bool endpoints =
        add("HTTP endpoints, scraped every second", churnEndpoints(churn), figures);
    const bool pages = add("metric pages, read every 100 ms", churnPages(churn), figures);
    if (!endpoints || !pages) return 1;
  }
  figures.print();
  return 0;
}
