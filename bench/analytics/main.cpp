// How well incidents are detected, on synthetic runs of which everything is known. The settings
// were chosen by --tune on its seeds; the report is of other seeds.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "evaluation.h"

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

// Around the defaults; what is not here was settled before, on the same seeds.
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

// Chosen: the settings with the highest F1.
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

void printKinds(const Evaluation& found) {
  std::printf("%-46s %9s %9s %9s %8s %8s\n", "by kind", "incidents", "recall", "named", "delay50",
              "delay90");
  for (std::size_t i = 0; i < kIncidents; ++i) {
    const KindResult& kind = found.kinds[i];
    const std::string name(nameOf(static_cast<Incident>(i)));
    const auto share = [](std::uint64_t part, std::uint64_t whole) {
      return static_cast<double>(part) / static_cast<double>(whole);
    };
    std::printf("%-46s %9llu %9.3f %9.3f %8.0f %8.0f\n", name.c_str(),
                static_cast<unsigned long long>(kind.incidents),
                share(kind.detected, kind.incidents), share(kind.named, kind.detected),
                quantileOf(kind.delays, 0.5), quantileOf(kind.delays, 0.9));
  }
}

void report(std::size_t metrics, std::size_t count) {
  const auto runs = runsOf({.metrics = metrics}, kReportSeed, count);
  const SubspaceSettings settings;
  std::printf("%zu metrics, %zu runs of 6 h, a sample a second, seeds %llu and on\n%s\n", metrics,
              count, static_cast<unsigned long long>(kReportSeed), nameOf(settings).c_str());
  printHead("runs with incidents");
  const Evaluation found = evaluate(settings, runs);
  printLine("subspace", found);
  SubspaceSettings alone = settings;
  alone.max_rank = 0;
  printLine("each metric by itself: max_rank 0", evaluate(alone, runs));
  SubspaceSettings momentary = settings;
  momentary.memory = 1;
  printLine("nothing but the latest sample: memory 1", evaluate(momentary, runs));
  printKinds(found);
  const auto quiet = runsOf({.metrics = metrics, .incidents = false}, kReportSeed, count);
  const Evaluation calm = evaluate(settings, quiet);
  std::printf("runs without incidents: %.3f false alarms per hour, saving %.3f\n",
              calm.falseAlarmsPerHour(), calm.saving());
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description options("Detection of synthetic incidents");
  options.add_options()("help,h", "this text")("tune",
                                               "print the grid that settings were chosen from")(
      "runs", po::value<std::size_t>()->default_value(20), "of 6 hours each")(
      "metrics", po::value<std::size_t>()->default_value(32), "of the group");
  po::variables_map given;
  try {
    po::store(po::parse_command_line(argc, argv, options), given);
    po::notify(given);
  } catch (const po::error& error) {
    std::cerr << error.what() << '\n' << options;
    return 2;
  }
  if (given.count("help") != 0) {
    std::cout << options;
    return 0;
  }
  const auto metrics = given["metrics"].as<std::size_t>();
  const auto runs = given["runs"].as<std::size_t>();
  if (given.count("tune") != 0) {
    tune(metrics, runs);
  } else {
    report(metrics, runs);
  }
  return 0;
}
