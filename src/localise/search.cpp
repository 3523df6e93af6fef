#include "localise/search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>
#include <utility>

namespace pingloom::localise {
namespace {

bool isTaken(const std::vector<Culprit>& taken, ComponentId component) {
  return std::any_of(taken.begin(), taken.end(),
                     [&](const Culprit& culprit) { return culprit.component == component; });
}

}  // namespace

Search::Search(const Fabric& fabric, std::span<const Observation> evidence,
               const Settings& settings, double background)
    : fabric_(fabric),
      evidence_(evidence),
      settings_(settings),
      model_(fabric, evidence, settings, background) {}

const std::vector<Search::Count>& Search::histogram(ComponentId component) {
  counts_.clear();
  tally_.resize(std::max(tally_.size(), model_.classes().size()), 0);
  for (const std::uint32_t row : model_.candidates().rows(component)) {
    const ClassId id = model_.classOf(row);
    if (tally_[id]++ == 0) counts_.push_back({id, 0});
  }
  for (Count& count : counts_) count.members = std::exchange(tally_[count.id], 0);
  return counts_;
}

Search::Scored Search::score(ComponentId component) {
  std::array<double, kGrid> sums{};
  for (const Count& count : histogram(component)) {
    const auto& grid = model_.classes().grid(count.id);
    for (std::size_t i = 0; i < kGrid; ++i) sums[i] += grid[i] * count.members;
  }
  for (std::size_t i = 0; i < kGrid; ++i) sums[i] -= model_.cost(component, gridGuess(i));
  const auto most = std::max_element(sums.begin(), sums.end());
  return {*most, gridGuess(static_cast<std::size_t>(most - sums.begin()))};
}

void Search::scoreAll() {
  scores_.resize(model_.candidates().size());
  for (std::size_t i = 0; i < scores_.size(); ++i) scores_[i] = score(model_.candidates()[i]);
}

std::optional<Culprit> Search::best(const std::vector<Culprit>& taken) {
  std::optional<std::size_t> found;
  double most = 0;
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    if (scores_[i].score <= most || isTaken(taken, model_.candidates()[i])) continue;
    most = scores_[i].score;
    found = i;
  }
  if (!found) return std::nullopt;
  const ComponentId component = model_.candidates()[*found];
  return Culprit{component, refine(component, scores_[*found].guess)};
}

double Search::valueOf(const std::vector<Count>& counts, const Guess& guess) const {
  double sum = 0;
  for (const Count& count : counts) sum += model_.classes().gain(count.id, guess) * count.members;
  return sum;
}

// Coordinate ascent with shrinking steps, from the grid's best point.
Guess Search::refine(ComponentId component, Guess guess) {
  const std::vector<Count> counts = histogram(component);
  const auto value = [&](const Guess& at) {
    return valueOf(counts, at) - model_.cost(component, at);
  };
  double most = value(guess);
  const auto attempt = [&](Guess other) {
    other.rate = std::clamp(other.rate, 1e-5, 0.99999);
    other.share = std::clamp(other.share, 0.005, 1.0);
    const double reached = value(other);
    if (reached <= most) return;
    most = reached;
    guess = other;
  };
  for (const double step : {1.6, 1.25, 1.1, 1.04}) {
    for (int i = 0; i < 4; ++i) {
      attempt({guess.rate * step, guess.share});
      attempt({guess.rate / step, guess.share});
      if (guess.share >= 1) continue;
      attempt({guess.rate, guess.share * step});
      attempt({guess.rate, guess.share / step});
    }
  }
  return guess;
}

std::vector<Culprit> Search::run() {
  std::vector<Culprit> culprits;
  model_.set(culprits);
  while (culprits.size() < settings_.most) {
    scoreAll();
    const auto found = best(culprits);
    if (!found) break;
    culprits.push_back(*found);
    model_.add(*found);
  }
  for (int pass = 0; pass < 3 && improve(culprits); ++pass) {
  }
  return culprits;
}

// Chooses each culprit again, given the others, and drops those that are not worth their cost.
bool Search::improve(std::vector<Culprit>& culprits) {
  bool changed = false;
  for (std::size_t i = 0; i < culprits.size();) {
    model_.set(culprits, i);
    scoreAll();
    const ComponentId before = culprits[i].component;
    std::vector<Culprit> others = culprits;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const auto found = best(others);
    changed = changed || !found || found->component != before;
    if (!found) {
      culprits = std::move(others);
      continue;
    }
    culprits[i++] = *found;
  }
  return changed;
}

Verdict Search::describe(const std::vector<Culprit>& culprits, std::size_t index) {
  const Culprit& culprit = culprits[index];
  model_.set(culprits, index);
  scoreAll();
  const std::vector<Count> counts = histogram(culprit.component);
  Verdict verdict;
  verdict.component = culprit.component;
  verdict.kind = fabric_.components()[culprit.component].kind;
  verdict.rate = culprit.guess.rate;
  verdict.share = culprit.guess.share;
  verdict.gain = valueOf(counts, culprit.guess);
  const auto edge = [&](double step) {
    Guess guess = culprit.guess;
    while (guess.rate > 1e-6 && guess.rate < 1) {
      guess.rate *= step;
      if (valueOf(counts, guess) < verdict.gain - 1.92) break;
    }
    return std::min(guess.rate, 1.0);
  };
  verdict.rate_low = edge(1 / 1.05);
  verdict.rate_high = edge(1.05);
  addAlternatives(verdict, culprits);
  addEvidence(verdict, culprit);
  return verdict;
}

// The scores are those without the verdict's culprit.
void Search::addAlternatives(Verdict& verdict, const std::vector<Culprit>& culprits) const {
  const Candidates& candidates = model_.candidates();
  const double own = scores_[candidates.indexOf(verdict.component)].score;
  const auto& components = fabric_.components();
  std::vector<std::pair<double, ComponentId>> ranked;  // by how much less they gain
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i] == verdict.component || isTaken(culprits, candidates[i])) continue;
    const double less = own - scores_[i].score;
    if (less <= settings_.set_within) {
      ranked.emplace_back(less, candidates[i]);
    } else if (less < verdict.lead &&
               !components[candidates[i]].samePart(components[verdict.component])) {
      verdict.rival = candidates[i];
      verdict.lead = less;
    }
  }
  std::sort(ranked.begin(), ranked.end());
  verdict.alternatives = {verdict.component};
  for (const auto& [less, component] : ranked) verdict.alternatives.push_back(component);
}

void Search::addEvidence(Verdict& verdict, const Culprit& culprit) const {
  std::map<std::uint32_t, double> explained;  // the worst loss of each flow
  std::unordered_set<std::uint32_t> through;
  std::unordered_set<NodeId> witnesses;
  for (const std::uint32_t row : model_.candidates().rows(culprit.component)) {
    const Observation& it = evidence_[row];
    through.insert(it.flow);
    if (it.lost == 0 || model_.classes().logRatio(model_.classOf(row), culprit.guess.rate) <= 0) {
      continue;
    }
    witnesses.insert(it.witness == kUnknownNode ? fabric_.ends(it.path).source : it.witness);
    double& worst = explained[it.flow];
    worst = std::max(worst, static_cast<double>(it.lost) / it.sent);
  }
  verdict.through = static_cast<std::uint32_t>(through.size());
  verdict.explained = static_cast<std::uint32_t>(explained.size());
  verdict.witnesses = static_cast<std::uint32_t>(witnesses.size());
  std::vector<std::pair<double, std::uint32_t>> worst;
  worst.reserve(explained.size());
  for (const auto& [flow, loss] : explained) worst.emplace_back(-loss, flow);
  std::sort(worst.begin(), worst.end());
  worst.resize(std::min<std::size_t>(worst.size(), 20));
  for (const auto& [loss, flow] : worst) verdict.worst_flows.push_back(flow);
}

double Search::unexplained(const std::vector<Culprit>& culprits) {
  model_.set(culprits);
  return model_.unexplained();
}

}  // namespace pingloom::localise
