// Measures how fast metrics are collected and what it costs: from metric pages over the soft
// device, and the same metrics from HTTP endpoints of prometheus-cpp. All of that runs on one core.
// A second part compares one and two readers of a collector on two cores, and a third one has two
// of them read for long.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "common/log.h"
#include "common/program.h"
#include "cores.h"
#include "readers_part.h"
#include "shared/figures.h"
#include "sides.h"

namespace {

using namespace pingloom::bench;

void add(Figures& figures, const std::string& row, const Collected& pages,
         const Collected& endpoints) {
  figures.add(row + "pages", "M metrics/s", pages.metrics / pages.seconds / 1e6);
  figures.add(row + "all of them read in", "ms", pages.seconds / pages.rounds * 1e3);
  figures.add(row + "host's CPU a metric", "ns", pages.host_cpu / pages.metrics * 1e9);
  figures.add(row + "collector's CPU a metric", "ns", pages.collector_cpu / pages.metrics * 1e9);
  figures.add(row + "useful bytes", "%", 100 * pages.useful_bytes / pages.read_bytes);
  figures.add(row + "endpoints", "M metrics/s", endpoints.metrics / endpoints.seconds / 1e6);
  figures.add(row + "their host's CPU a metric", "ns",
              endpoints.host_cpu / endpoints.metrics * 1e9);
  figures.add(row + "their collector's CPU a metric", "ns",
              endpoints.collector_cpu / endpoints.metrics * 1e9);
}

// Adds one run of every shape.
void addEndpoints(Figures& figures, double seconds) {
  // These are the two axes that MicroView was measured on, and full pages.
  static constexpr std::array<Shape, 9> kShapes = {
      {{8, 16}, {8, 64}, {8, 128}, {8, 256}, {16, 64}, {64, 64}, {128, 64}, {256, 64}, {64, 504}}};
  for (const Shape& shape : kShapes) {
    add(figures, fmt::format("{} x {} | ", shape.applications, shape.metrics),
        collectPages(shape, seconds), scrapeEndpoints(shape, seconds));
  }
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  int runs = 5;
  double seconds = 1;
  double sustained = 0;
  bool readers_only = false;
  po::options_description options("Options");
  options.add_options()("runs", po::value(&runs)->default_value(runs), "how many runs to make")(
      "seconds", po::value(&seconds)->default_value(seconds, "1"),
      "how long each way of collecting is measured in a run")(
      "sustained", po::value(&sustained)->default_value(sustained, "0"),
      "how many seconds two readers read without a break, once; 0: not at all")(
      "readers-only", po::bool_switch(&readers_only), "leave out the first part");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = pingloom::program::parse(
          {"collection_bench", "collection_bench [OPTIONS]",
           "Collects metrics from metric pages and from endpoints of prometheus-cpp."},
          arguments, options, {}, values)) {
    return *code;
  }
  pingloom::log::init("collection_bench", pingloom::log::Level::kWarning);
  pinTo(1);
  Figures figures;
  for (int run = 0; run < std::max(1, runs) && !readers_only; ++run) addEndpoints(figures, seconds);
  for (int run = 0; run < std::max(1, runs); ++run) {
    if (addReaders(figures, seconds)) continue;
    std::fprintf(stderr, "two readers were not measured: this process has only one core\n");
    sustained = 0;
    break;
  }
  if (sustained > 0) addSustained(figures, sustained);
  figures.print();
  return 0;
}
