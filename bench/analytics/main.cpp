// Measures how well incidents are detected, on synthetic runs of which everything is known. The
// settings were chosen on the seeds of --tune; the report evaluates other seeds.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "baselines.h"
#include "common/program.h"
#include "evaluation.h"
#include "shared/figures.h"
#include "stationary.h"

namespace {

namespace po = boost::program_options;
using namespace pingloom::bench;
using namespace pingloom::collector::analytics;

constexpr std::uint64_t kTuningSeed = 1;
constexpr std::uint64_t kReportSeed = 7001;
constexpr std::size_t kHour = 3600;
constexpr double kFalseAlarms = 0.3;  // an hour, at which all are compared

std::vector<Run> runsOf(const RunShape& shape, std::uint64_t first_seed, std::size_t count) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < count; ++i) runs.push_back(makeRun(shape, first_seed + i));
  return runs;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// What was not found has no delay, and no metric that was named.
void addIfKnown(Figures& figures, const std::string& name, std::string_view unit, double value) {
  if (std::isfinite(value)) figures.add(name, unit, value);
}

void addKinds(const std::string& table, const Evaluation& found, Figures& figures) {
  for (std::size_t i = 0; i < kIncidents; ++i) {
    const KindResult& kind = found.kinds[i];
    const std::string row =
        table + ", by kind | " + std::string(nameOf(static_cast<Incident>(i))) + " | ";
    figures.add(row + "incidents", "", static_cast<double>(kind.incidents));
    figures.add(row + "recall", "", share(kind.detected, kind.incidents));
    addIfKnown(figures, row + "named", "", share(kind.named, kind.detected));
    addIfKnown(figures, row + "delay p50", "s", quantileOf(kind.delays, 0.5));
  }
}

void add(const std::string& table, const char* what, const Evaluation& found, Figures& figures) {
  const std::string row = table + " | " + what + " | ";
  if (found.incidents() > 0) {
    figures.add(row + "recall", "", found.recall());
    figures.add(row + "precision", "", found.precision());
  }
  figures.add(row + "false alarms a quiet hour", "", found.falseAlarmsPerHour());
  addIfKnown(figures, row + "delay p50", "s", found.delay(0.5));
}

Evaluation bestOf(const std::vector<Run>& runs, Trace (*trace)(const Run&)) {
  std::vector<Trace> traces;
  traces.reserve(runs.size());
  for (const Run& run : runs) traces.push_back(trace(run));
  return pingloom::bench::bestOf(runs, traces, kFalseAlarms);
}

void report(const std::string& table, const std::vector<Run>& runs, bool baselines,
            Figures& figures) {
  const Evaluation found = evaluate({}, runs);
  add(table, "the detector", found, figures);
  figures.add(table + " | the detector | values not exported", "%", 100 * found.saving());
  if (found.incidents() > 0) addKinds(table, found, figures);
  if (!baselines) return;
  const std::string hindsight = table + ", the limit chosen in hindsight";
  add(hindsight, "z-score of each metric", bestOf(runs, zScores), figures);
  add(hindsight, "smoothed z-score (EWMA)", bestOf(runs, smoothedScores), figures);
  add(hindsight, "window PCA over 24 h", bestOf(runs, windowPca), figures);
}

void reportStationary(std::uint64_t first_seed, std::size_t count, std::size_t hours,
                      Figures& figures) {
  for (const std::size_t histograms : {std::size_t{1}, std::size_t{4}}) {
    std::uint64_t alarms = 0;
    for (std::size_t i = 0; i < count; ++i) {
      alarms += falseAlarms({.histograms = histograms, .samples = hours * kHour}, first_seed + i);
    }
    const std::string row = "stationary histograms | " + std::to_string(histograms) + " | ";
    figures.add(row + "watched", "h", static_cast<double>(count * hours));
    figures.add(row + "false alarms", "", static_cast<double>(alarms));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 4;
  std::size_t hours = 24;
  bool tuning = false;
  po::options_description options("Options");
  options.add_options()("tune", po::bool_switch(&tuning),
                        "evaluate the seeds that the settings were chosen on")(
      "runs", po::value(&count)->default_value(count), "how many runs to evaluate")(
      "hours", po::value(&hours)->default_value(hours), "how long a run is");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code =
          pingloom::program::parse({"analytics_detection", "analytics_detection [OPTIONS]",
                                    "Evaluates the detection of synthetic incidents."},
                                   arguments, options, {}, values)) {
    return *code;
  }
  const std::uint64_t seed = tuning ? kTuningSeed : kReportSeed;
  RunShape shape{.samples = hours * kHour};
  std::printf("%zu metrics, %zu runs of %zu h, a sample a second, seeds %llu and on\n", kMetrics,
              count, hours, static_cast<unsigned long long>(seed));
  Figures figures;
  report("cold", runsOf(shape, seed, count), !tuning, figures);
  shape.incidents = false;
  report("cold, no incidents", runsOf(shape, seed, count), false, figures);
  shape.history = 24 * kHour;
  report("after a day, no incidents", runsOf(shape, seed, count), false, figures);
  shape.incidents = true;
  report("after a day", runsOf(shape, seed, count), !tuning, figures);
  reportStationary(seed, count, hours, figures);
  figures.print();
  return 0;
}
