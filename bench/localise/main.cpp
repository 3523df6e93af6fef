// Precision and recall of localisers on simulated fabrics, all on the same scenarios. Seeds below
// 1000 are for development; docs/localisation.md reports others.
#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <optional>

#include "baselines.h"
#include "common/program.h"
#include "score.h"
#include "shared/clocks.h"

namespace {

using namespace pingloom;
using namespace pingloom::bench;

constexpr std::uint64_t kTrialsOfAPlan = 10;

struct Options {
  std::uint64_t seed = 1000;
  std::uint32_t trials = 20;
  std::string only;
  bool ours_only = false;
  bool verbose = false;
};

std::vector<Setup> setups() {
  std::vector<Setup> all(10);
  all[0].name = "one culprit";
  all[1] = {.name = "one culprit, round trips", .one_way = false};
  all[2] = {.name = "0.5 % loss", .rate = 0.005};
  all[3] = {.name = "0.1 % loss, 60 probes", .probes = 60, .rate = 0.001};
  all[4] = {.name = "three culprits", .culprits = 3};
  all[5] = {.name = "5 % of paths stale", .stale = 0.05};
  all[6] = {.name = "20 % of paths stale", .stale = 0.2};
  all[7] = {.name = "20 % of cores anonymous", .anonymous = 0.2};
  all[8] = {.name = "sparse plan", .destinations = 4, .labels = 2};
  all[9] = {.name = "sparse plan, with bursts", .destinations = 4, .labels = 2, .bursts = true};
  all.push_back({.name = "leaf-spine, 1,024 hosts",
                 .shape = {.k = 0, .leafs = 32, .spines = 16, .hosts_per_leaf = 32}});
  return all;
}

std::vector<Answer> ours(const Window& window) {
  std::vector<Answer> answers;
  for (const auto& verdict : localise::localise(*window.fabric, window.evidence).verdicts) {
    answers.push_back({verdict.component, verdict.alternatives});
  }
  return answers;
}

// A confirming burst goes over the flows of what a localiser with a low threshold suspects.
void confirm(World& world) {
  localise::Settings low;
  for (double* cost : {&low.cost_link, &low.cost_host, &low.cost_cable, &low.cost_switch}) {
    *cost -= 9;
  }
  low.cost_share = 1;
  const auto& fabric = *world.window().fabric;
  std::vector<bool> suspected(fabric.components().size(), false);
  for (const auto& verdict : localise::localise(fabric, world.window().evidence, low).verdicts) {
    for (const auto component : verdict.alternatives) suspected[component] = true;
  }
  world.burst(suspected, 50);
}

struct Algorithm {
  const char* name;
  bool links_only;
  std::vector<Answer> (*run)(const World&);
};

template <typename F>
std::vector<Answer> single(const F& localiser) {
  std::vector<Answer> answers;
  answers.reserve(localiser.size());
  for (const auto component : localiser) answers.push_back({component, {component}});
  return answers;
}

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> all = {
      {"007", true, [](const World& w) { return single(votes007(w.window())); }},
      {"set cover", true, [](const World& w) { return single(setCover(w.window())); }},
      {"NetBouncer", true, [](const World& w) { return single(netBouncer(w.window())); }},
      {"Flock", false, [](const World& w) { return single(flock(w.window())); }},
      {"R-Pingmesh votes", true,
       [](const World& w) { return single(votesRPingmesh(w.window(), w.topology())); }},
      {"pingloom", false, [](const World& w) { return ours(w.window()); }},
  };
  return all;
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

void printRow(const char* name, const Score& score) {
  const auto right = static_cast<double>(score.right);
  fmt::print("| {} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.2f} | {} of {} | {:.1f} |\n", name,
             ratio(right, static_cast<double>(score.right + score.wrong)),
             ratio(static_cast<double>(score.found), static_cast<double>(score.faults)),
             ratio(static_cast<double>(score.exact), right),
             ratio(static_cast<double>(score.kind), right),
             ratio(static_cast<double>(score.set), right), score.alarms, score.clean,
             ratio(score.milliseconds, static_cast<double>(score.runs)));
}

void explain(const World& world, const std::string& kind, std::uint64_t seed,
             const std::vector<Answer>& answers) {
  fmt::print("{} {}:", kind, seed);
  for (const Fault& fault : world.faults()) {
    const auto& [of, a, b] = fault.key;
    fmt::print(" {} {} {} rate {} share {}", kindName(of), a, b, fault.rate, fault.share);
  }
  fmt::print(" |");
  for (const Answer& answer : answers) {
    const auto& it = world.window().fabric->components()[answer.component];
    fmt::print(" {} {} {} ({})", kindName(it.kind), it.from, it.to, answer.set.size());
  }
  fmt::print("\n");
}

// Lets every algorithm judge the same trial.
void judge(const World& world, const std::string& kind, std::uint64_t seed, const Options& options,
           std::vector<Score>& scores) {
  for (std::size_t i = 0; i < algorithms().size(); ++i) {
    const bool is_ours = i + 1 == algorithms().size();
    if (options.ours_only && !is_ours) continue;
    Score& score = scores[i];
    const Nanos before = threadCpu();
    const auto answers = algorithms()[i].run(world);
    score.milliseconds += toMilliseconds(threadCpu() - before);
    ++score.runs;
    const Score old = score;
    score.add(world, answers, algorithms()[i].links_only);
    const bool perfect =
        score.wrong == old.wrong && score.found - old.found == score.faults - old.faults;
    if (options.verbose && is_ours && !perfect) explain(world, kind, seed, answers);
  }
}

void measure(const Setup& setup, const Options& options) {
  std::optional<World> world;
  std::vector<Score> scores(algorithms().size());
  for (std::uint64_t trial = 0; trial < options.trials; ++trial) {
    const std::uint64_t seed = options.seed + trial;
    if (trial % kTrialsOfAPlan == 0) world.emplace(setup, seed);
    for (const std::string& kind : faultKinds()) {
      world->draw(kind, seed);
      if (setup.bursts) confirm(*world);
      judge(*world, kind, seed, options, scores);
    }
  }
  if (!world) return;
  fmt::print("\n{}: {} hosts, {} flows, {} components\n\n", setup.name, world->topology().hosts(),
             world->flows(), world->truth().components().size());
  fmt::print("| localiser | precision | recall | exact | kind | set | false alarms | ms |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < algorithms().size(); ++i) {
    if (scores[i].runs > 0) printRow(algorithms()[i].name, scores[i]);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  Options options;
  po::options_description described("Options");
  described.add_options()("seed", po::value(&options.seed),
                          "the first trial's seed (default 1000)")(
      "trials", po::value(&options.trials), "trials of each of eight kinds (default 20)")(
      "only", po::value(&options.only), "measure only scenarios whose name contains this")(
      "ours", po::bool_switch(&options.ours_only), "measure only pingloom's localiser")(
      "verbose", po::bool_switch(&options.verbose), "print the trials in which it was not right");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = pingloom::program::parse({"localise_bench", "localise_bench [OPTIONS]",
                                                  "How right localisers are, and what they cost."},
                                                 arguments, described, {}, values)) {
    return *code;
  }
  for (const Setup& setup : setups()) {
    if (setup.name.find(options.only) != std::string::npos) measure(setup, options);
  }
  return 0;
}
