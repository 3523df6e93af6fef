// How often the right culprits are named in random scenarios, and what a judgement of all pairs and
// a conclusion cost, beside one pass over the same memory.
#include <fmt/format.h>

#include <boost/program_options.hpp>

#include "common/program.h"
#include "controller/model/limits.h"
#include "controller/verdict/baseline.h"
#include "controller/verdict/finding.h"
#include "controller/verdict/pair_judge.h"
#include "scenario.h"
#include "shared/clocks.h"
#include "shared/figures.h"

namespace {

using namespace pingloom;
using namespace pingloom::controller;
using pingloom::bench::Figures;

struct Options {
  std::uint32_t hosts = 2000;
  std::uint64_t seed = 1;
  std::uint64_t scenarios = 1000;
  std::uint64_t runs = 5;
  bool verbose = false;
};

void truth(const Options& options, Figures& figures) {
  const bench::SimulatedMesh mesh(options.hosts);
  std::uint64_t right = 0;
  std::uint64_t named = 0;
  std::uint64_t planted = 0;
  for (std::uint64_t i = 0; i < options.scenarios; ++i) {
    auto scenario = bench::makeScenario(mesh, options.seed + i);
    const auto found = bench::found(coverProbe(mesh.places(), std::move(scenario.evidence)));
    std::uint64_t hits = 0;
    for (const std::string& culprit : found) hits += scenario.culprits.contains(culprit) ? 1 : 0;
    right += hits;
    named += found.size();
    planted += scenario.culprits.size();
    if (!options.verbose || found == scenario.culprits) continue;
    fmt::print("seed {}: planted {} | found {}\n", options.seed + i,
               fmt::join(scenario.culprits, ", "), fmt::join(found, ", "));
  }
  figures.add("precision of culprits", "", static_cast<double>(right) / static_cast<double>(named));
  figures.add("recall of culprits", "", static_cast<double>(right) / static_cast<double>(planted));
}

Row wellRow(std::uint64_t noise) {
  Row row;
  row.sent = row.received = 10;
  const std::uint64_t time = 10'000 + noise % 4096;
  row.network = row.responder = row.prober = row.rtt = {10, time, time, time, time, time, time};
  row.jitter_ns = 100 + noise % 64;
  return row;
}

// All rows of a mesh in which one pair of a hundred is bad: every pair of one host of a hundred
// sends badly.
struct FullMesh {
  explicit FullMesh(std::uint32_t hosts) : mesh(hosts) {
    std::uint64_t noise = 1;
    for (std::uint32_t from = 0; from < hosts; ++from) {
      auto source_rows = std::make_shared<SourceRows>();
      source_rows->window = 10 * kSecond;
      for (std::uint32_t to = 0; to < hosts; ++to) {
        noise = noise * 6364136223846793005U + 1442695040888963407U;
        Row row = from == to ? Row{} : wellRow(noise >> 33U);
        if (from % 100 == 7 && from != to) row.network.p50 = 5'000'000;
        source_rows->rows.add(row);
      }
      rows.push_back(std::move(source_rows));
      histories.emplace_back(hosts);
    }
  }

  // Judges one window of every pair, as Grid does when the reports come.
  JudgedSources judgeAll() {
    const auto& plan = mesh.places().plan();
    const DistanceClasses classes(plan, plan.probes[0]);
    ProbeBaseline baseline;
    baseline.resize(rows.size());
    JudgedSources made(1);
    const pinglist::Thresholds thresholds;
    for (std::uint32_t from = 0; from < rows.size(); ++from) {
      baseline.take(from, &rows[from]->rows, classes);
      const auto& baselines = baseline.at(kSecond);
      std::array<Limits, kMaxClasses> limits;
      for (std::size_t i = 0; i < limits.size(); ++i) {
        limits[i] = limitsOf(thresholds, baselines[i], ClockSource::kKernel);
      }
      auto snapshot = std::make_shared<SourceSnapshot>();
      snapshot->rows = rows[from];
      snapshot->judged.resize(rows.size());
      snapshot->states.resize(rows.size(), PairState::kOk);
      for (std::uint32_t to = 0; to < rows.size(); ++to) {
        if (from == to) continue;
        snapshot->judged[to] =
            judge(histories[from][to],
                  levelsOf(figuresOf(rows[from]->rows.packed(to)), limits[classes.of(from, to)]),
                  false, thresholds.enter, thresholds.leave);
      }
      made[0].push_back(std::move(snapshot));
    }
    return made;
  }

  // The machine's limit: one pass over the memory of all rows.
  std::uint64_t pass() const {
    std::uint64_t sum = 0;
    for (const auto& source : rows) {
      for (const auto& entry : source->rows.entries()) {
        const PackedRow row = source->rows.of(entry);
        sum += row.sent() + row.restBytes();
      }
    }
    return sum;
  }

  bench::SimulatedMesh mesh;
  std::vector<std::shared_ptr<const SourceRows>> rows;
  std::vector<std::vector<PairHistory>> histories;
};

void cost(const Options& options, Figures& figures) {
  FullMesh mesh(options.hosts);
  for (int i = 0; i < 5; ++i) mesh.judgeAll();  // until the bad pairs are judged so
  std::uint64_t bad = 0;
  for (std::uint64_t run = 0; run < options.runs; ++run) {
    Nanos before = bench::threadCpu();
    const std::uint64_t sum = mesh.pass();
    Nanos after = bench::threadCpu();
    if (sum == 0) return;
    figures.add("limit: one pass over all rows", "ms", bench::toMilliseconds(after - before));
    before = bench::threadCpu();
    const JudgedSources judged = mesh.judgeAll();
    after = bench::threadCpu();
    figures.add("judging one window of every pair", "ms", bench::toMilliseconds(after - before));
    before = bench::threadCpu();
    const auto findings = findCulprits(mesh.mesh.places(), judged);
    after = bench::threadCpu();
    figures.add("finding the culprits of 1 % bad pairs", "ms",
                bench::toMilliseconds(after - before));
    bad = 0;
    for (const Finding& finding : findings) bad += finding.bad_pairs;
  }
  fmt::print("{} pairs, {} bad pairs explained\n",
             std::uint64_t{options.hosts} * (options.hosts - 1), bad);
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  Options options;
  po::options_description described("Options");
  described.add_options()("hosts", po::value(&options.hosts), "hosts of the mesh (default 2000)")(
      "seed", po::value(&options.seed), "the first scenario's seed (default 1)")(
      "scenarios", po::value(&options.scenarios), "number of scenarios (default 1000)")(
      "runs", po::value(&options.runs), "runs of each timed part (default 5)")(
      "verbose", po::bool_switch(&options.verbose), "print the scenarios that were not all right");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = pingloom::program::parse({"verdict_bench", "verdict_bench [OPTIONS]",
                                                  "How right verdicts are, and what they cost."},
                                                 arguments, described, {}, values)) {
    return *code;
  }
  Figures figures;
  if (options.scenarios > 0) truth(options, figures);
  if (options.runs > 0) cost(options, figures);
  figures.print();
  return 0;
}
