#include "localise/localise.h"

#include <algorithm>

#include "localise/search.h"

namespace pingloom::localise {

namespace {

bool isReported(const Fabric& fabric, const Verdict& verdict, const Settings& settings) {
  if (verdict.rate * verdict.share < settings.min_rate) return false;
  return !fabric.components()[verdict.component].at_host || verdict.gain >= settings.cost_host;
}

}  // namespace

Settings delaySettings() {
  Settings settings;
  settings.background = 0.02;
  settings.max_background = 0.3;
  settings.min_rate = 0.05;
  // What a busy host delays itself is never the fabric's.
  settings.cost_noise = 3;
  settings.most_noise = 1;
  return settings;
}

Outcome localise(const Fabric& fabric, std::span<const Observation> evidence,
                 const Settings& settings) {
  Outcome outcome;
  std::vector<Observation> valid;
  valid.reserve(evidence.size());
  bool lossy = false;
  for (const Observation& it : evidence) {
    if (it.lost > it.sent || it.sent > kMaxSent || it.path >= fabric.paths()) {
      ++outcome.refused;
    } else if (it.sent > 0) {
      valid.push_back(it);
      lossy = lossy || it.lost > 0;
    }
  }
  outcome.background = settings.background;
  if (!lossy) return outcome;
  std::optional<Search> search;
  std::vector<Culprit> culprits;
  // Twice, because what the first culprits leave unexplained tells the loss of healthy paths.
  for (int round = 0; round < 2; ++round) {
    search.emplace(fabric, valid, settings, outcome.background);
    culprits = search->run();
    if (round > 0) break;
    const double rest = std::min(search->unexplained(culprits), settings.max_background);
    if (rest < 2 * outcome.background) break;
    outcome.background = rest;
  }
  for (std::size_t i = 0; i < culprits.size(); ++i) {
    Verdict verdict = search->describe(culprits, i);
    if (isReported(fabric, verdict, settings)) outcome.verdicts.push_back(std::move(verdict));
  }
  std::sort(outcome.verdicts.begin(), outcome.verdicts.end(),
            [](const Verdict& a, const Verdict& b) {
              return a.gain != b.gain ? a.gain > b.gain : a.component < b.component;
            });
  return outcome;
}

}  // namespace pingloom::localise
