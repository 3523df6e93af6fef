// Measures how well incidents are detected, on synthetic runs of which everything is known. --tune
// chose the settings on seeds of its own; the report evaluates other seeds.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "common/program.h"
#include "evaluation.h"
#include "shared/figures.h"

namespace {

namespace po = boost::program_options;
using namespace pingloom::bench;
using namespace pingloom::collector::analytics;

constexpr std::uint64_t kTuningSeed = 1;
constexpr std::uint64_t kReportSeed = 7001;

std::vector<Run> runsOf(const RunShape& shape, std::uint64_t first_seed, std::size_t count) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < count; ++i) runs.push_back(makeRun(shape, first_seed + i));
  return runs;
}

void printLine(const std::string& what, const Evaluation& found) {
  std::printf("%-46s %9.3f %9.3f %9.3f %8.0f %8.0f %10.3f %9.3f\n", what.c_str(), found.precision(),
              found.recall(), found.f1(), found.delay(0.5), found.delay(0.9),
              found.falseAlarmsPerHour(), found.saving());
}

std::string nameOf(const SubspaceSettings& settings) {
  return fmt::format("factor {} memory {} half-life {} {} of {}", settings.factor, settings.memory,
                     settings.half_life, settings.hysteresis.raise, settings.hysteresis.window);
}

void printHead(const char* what) {
  std::printf("%-46s %9s %9s %9s %8s %8s %10s %9s\n", what, "precision", "recall", "F1", "delay50",
              "delay90", "false/h", "saving");
}

// Settings around the defaults. Those that do not vary here were settled before on the same seeds.
std::vector<SubspaceSettings> grid() {
  std::vector<SubspaceSettings> all;
  for (const double factor : {4, 5, 6}) {
    for (const double memory : {15, 25}) {
      for (const double half_life : {3600, 14400}) {
        for (const HysteresisSettings hysteresis : {HysteresisSettings{3, 5}, {5, 9}}) {
          all.push_back({.half_life = half_life,
                         .factor = factor,
                         .memory = memory,
                         .hysteresis = hysteresis});
        }
      }
    }
  }
  return all;
}

// Prints all settings of the grid, and which have the highest F1.
void tune(std::size_t metrics, std::size_t count) {
  const auto runs = runsOf({.metrics = metrics}, kTuningSeed, count);
  printHead("tuning seeds");
  double best = 0;
  std::string chosen;
  for (const auto& settings : grid()) {
    const Evaluation found = evaluate(settings, runs);
    printLine(nameOf(settings), found);
    if (found.f1() <= best) continue;
    best = found.f1();
    chosen = nameOf(settings);
  }
  std::printf("chosen: %s\n", chosen.c_str());
}

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

void addKinds(const Evaluation& found, Figures& figures) {
  for (std::size_t i = 0; i < kIncidents; ++i) {
    const KindResult& kind = found.kinds[i];
    const std::string row = "by kind | " + std::string(nameOf(static_cast<Incident>(i))) + " | ";
    figures.add(row + "incidents", "", static_cast<double>(kind.incidents));
    figures.add(row + "recall", "", share(kind.detected, kind.incidents));
    figures.add(row + "named", "", share(kind.named, kind.detected));
    figures.add(row + "delay p50", "s", quantileOf(kind.delays, 0.5));
    figures.add(row + "delay p90", "s", quantileOf(kind.delays, 0.9));
  }
}

void add(const char* what, const Evaluation& found, Figures& figures) {
  const std::string row = "runs with incidents | " + std::string(what) + " | ";
  figures.add(row + "precision", "", found.precision());
  figures.add(row + "recall", "", found.recall());
  figures.add(row + "delay p50", "s", found.delay(0.5));
  figures.add(row + "delay p90", "s", found.delay(0.9));
  figures.add(row + "false alarms a quiet hour", "", found.falseAlarmsPerHour());
  figures.add(row + "values not exported", "%", 100 * found.saving());
}

void report(std::size_t metrics, std::size_t count) {
  const auto runs = runsOf({.metrics = metrics}, kReportSeed, count);
  const SubspaceSettings settings;
  std::printf("%zu metrics, %zu runs of 6 h, a sample a second, seeds %llu and on\n%s\n", metrics,
              count, static_cast<unsigned long long>(kReportSeed), nameOf(settings).c_str());
  Figures figures;
  const Evaluation found = evaluate(settings, runs);
  add("the detector", found, figures);
  SubspaceSettings alone = settings;
  alone.max_rank = 0;
  add("each metric by itself (max_rank 0)", evaluate(alone, runs), figures);
  SubspaceSettings momentary = settings;
  momentary.memory = 1;
  add("the latest sample alone (memory 1)", evaluate(momentary, runs), figures);
  addKinds(found, figures);
  const auto quiet = runsOf({.metrics = metrics, .incidents = false}, kReportSeed, count);
  const Evaluation calm = evaluate(settings, quiet);
  figures.add("runs without incidents | the detector | false alarms an hour", "",
              calm.falseAlarmsPerHour());
  figures.add("runs without incidents | the detector | values not exported", "%",
              100 * calm.saving());
  figures.print();
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t runs = 20;
  std::size_t metrics = 32;
  bool tuning = false;
  po::options_description options("Options");
  options.add_options()("tune", po::bool_switch(&tuning),
                        "print the grid that the settings were chosen from")(
      "runs", po::value(&runs)->default_value(runs), "how many runs of 6 hours to evaluate")(
      "metrics", po::value(&metrics)->default_value(metrics), "how many metrics the group has");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code =
          pingloom::program::parse({"analytics_detection", "analytics_detection [OPTIONS]",
                                    "Evaluates the detection of synthetic incidents."},
                                   arguments, options, {}, values)) {
    return *code;
  }
  if (tuning) {
    tune(metrics, runs);
  } else {
    report(metrics, runs);
  }
  return 0;
}
