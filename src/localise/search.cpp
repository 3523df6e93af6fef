#include "localise/search.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace pingloom::localise {
namespace {

constexpr std::uint32_t kNoSlot = 0xffffffff;

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
      background_(background),
      classes_(settings) {
  healthy_.reserve(evidence.size());
  Observation last;
  ClassId last_class = 0;
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    const Observation& it = evidence[i];
    if (i == 0 || it.sent != last.sent || it.lost != last.lost) {
      last_class = classes_.find({it.sent, it.lost, background, 0});
      last = it;
    }
    healthy_.push_back(last_class);
    if (it.lost > 0) lossy_.push_back(static_cast<std::uint32_t>(i));
  }
  now_ = healthy_;
  findCandidates();
  fillRows();
}

double Search::cost(ComponentId component) const {
  switch (fabric_.components()[component].kind) {
    case Kind::kLink:
      return settings_.cost_link;
    case Kind::kCable:
      return settings_.cost_cable;
    case Kind::kSwitch:
      return settings_.cost_switch;
    case Kind::kHost:
      return settings_.cost_host;
  }
  return settings_.cost_host;
}

// No component can gain more than its lossy observations do when each has its own best rate.
// Whatever cannot pay its cost that way is left out before the clean observations are looked at.
void Search::findCandidates() {
  std::vector<double> bounds(fabric_.components().size(), 0.0);
  for (const std::uint32_t row : lossy_) {
    const Observation& it = evidence_[row];
    const double own = static_cast<double>(it.lost) / it.sent;
    const double most = std::max(0.0, classes_.logRatio(healthy_[row], own));
    for (const ComponentId component : fabric_.componentsOf(it.path)) bounds[component] += most;
  }
  slots_.assign(bounds.size(), kNoSlot);
  for (ComponentId component = 0; component < bounds.size(); ++component) {
    if (bounds[component] <= cost(component)) continue;
    slots_[component] = static_cast<std::uint32_t>(candidates_.size());
    candidates_.push_back(component);
  }
}

void Search::fillRows() {
  begins_.assign(candidates_.size() + 1, 0);
  if (candidates_.empty()) return;
  for (const Observation& it : evidence_) {
    for (const ComponentId component : fabric_.componentsOf(it.path)) {
      if (slots_[component] != kNoSlot) ++begins_[slots_[component] + 1];
    }
  }
  for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  rows_.resize(begins_.back());
  std::vector<std::uint32_t> ends(begins_.begin(), begins_.end() - 1);
  for (std::uint32_t row = 0; row < evidence_.size(); ++row) {
    for (const ComponentId component : fabric_.componentsOf(evidence_[row].path)) {
      if (slots_[component] != kNoSlot) rows_[ends[slots_[component]]++] = row;
    }
  }
}

std::span<const std::uint32_t> Search::rows(ComponentId component) const {
  const std::uint32_t slot = slots_[component];
  return std::span(rows_).subspan(begins_[slot], begins_[slot + 1] - begins_[slot]);
}

const std::vector<Search::Count>& Search::histogram(ComponentId component) {
  counts_.clear();
  tally_.resize(classes_.size(), 0);
  for (const std::uint32_t row : rows(component)) {
    if (tally_[now_[row]]++ == 0) counts_.push_back({now_[row], 0});
  }
  for (Count& count : counts_) count.members = std::exchange(tally_[count.id], 0);
  return counts_;
}

Search::Scored Search::score(ComponentId component) {
  std::array<double, kGrid> sums{};
  for (const Count& count : histogram(component)) {
    const auto& grid = classes_.grid(count.id);
    for (std::size_t i = 0; i < kGrid; ++i) sums[i] += grid[i] * count.members;
  }
  for (std::size_t i = kRates.size(); i < kGrid; ++i) sums[i] -= settings_.cost_share;
  const auto most = std::max_element(sums.begin(), sums.end());
  return {*most - cost(component), gridGuess(static_cast<std::size_t>(most - sums.begin()))};
}

void Search::scoreAll() {
  scores_.resize(candidates_.size());
  for (std::size_t i = 0; i < candidates_.size(); ++i) scores_[i] = score(candidates_[i]);
}

std::optional<ComponentId> Search::best(const std::vector<Culprit>& taken) const {
  std::optional<ComponentId> found;
  double most = 0;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (scores_[i].score <= most || isTaken(taken, candidates_[i])) continue;
    most = scores_[i].score;
    found = candidates_[i];
  }
  return found;
}

double Search::valueOf(const std::vector<Count>& counts, const Guess& guess) const {
  double sum = guess.share < 1 ? -settings_.cost_share : 0;
  for (const Count& count : counts) sum += classes_.gain(count.id, guess) * count.members;
  return sum;
}

// Coordinate ascent with shrinking steps, from the grid's best point.
Guess Search::refine(ComponentId component, Guess guess) {
  const std::vector<Count> counts = histogram(component);
  double most = valueOf(counts, guess);
  const auto attempt = [&](Guess other) {
    other.rate = std::clamp(other.rate, 1e-5, 0.99999);
    other.share = std::clamp(other.share, 0.005, 1.0);
    const double value = valueOf(counts, other);
    if (value <= most) return;
    most = value;
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

void Search::apply(const Culprit& culprit) {
  std::unordered_map<ClassId, ClassId> moved;
  for (const std::uint32_t row : rows(culprit.component)) {
    const auto [it, added] = moved.try_emplace(now_[row], now_[row]);
    if (added) {
      const Guess& guess = culprit.guess;
      const double odds = classes_.logRatio(it->first, guess.rate);
      // A flow of a black hole is hit or not, and is taken to be what is likelier.
      const bool hit = guess.share >= 1 || odds + std::log(guess.share) > std::log1p(-guess.share);
      ClassOf of = classes_[it->first];
      of.loss = together(of.loss, guess.rate);
      if (hit) it->second = classes_.find(of);
    }
    now_[row] = it->second;
  }
  if (!fabric_.components()[culprit.component].at_host) markDetours(culprit);
}

// A flow may have left its recorded path for one through the culprit if flows between the same
// edges of the fabric cross it. Only lossy observations need the term: it changes the likelihood
// of the others by a constant.
void Search::markDetours(const Culprit& culprit) {
  std::unordered_set<NodeId> first;
  std::unordered_set<NodeId> last;
  for (const std::uint32_t row : rows(culprit.component)) {
    const auto& ends = fabric_.ends(evidence_[row].path);
    first.insert(ends.first_switch);
    last.insert(ends.last_switch);
  }
  first.erase(kUnknownNode);
  last.erase(kUnknownNode);
  for (const std::uint32_t row : lossy_) {
    const auto& ends = fabric_.ends(evidence_[row].path);
    if (ends.first_switch == ends.last_switch || !first.contains(ends.first_switch) ||
        !last.contains(ends.last_switch)) {
      continue;
    }
    const auto path = fabric_.componentsOf(evidence_[row].path);
    if (std::binary_search(path.begin(), path.end(), culprit.component)) continue;
    ClassOf of = classes_[now_[row]];
    of.detour = std::max(of.detour, together(background_, culprit.guess.rate));
    now_[row] = classes_.find(of);
  }
}

void Search::model(const std::vector<Culprit>& culprits, std::size_t without) {
  now_ = healthy_;
  for (std::size_t i = 0; i < culprits.size(); ++i) {
    if (i != without) apply(culprits[i]);
  }
}

std::vector<Culprit> Search::run() {
  std::vector<Culprit> culprits;
  model(culprits, kNone);
  while (culprits.size() < settings_.most) {
    scoreAll();
    const auto found = best(culprits);
    if (!found) break;
    culprits.push_back({*found, refine(*found, scores_[slots_[*found]].guess)});
    apply(culprits.back());
  }
  for (int pass = 0; pass < 3 && improve(culprits); ++pass) {
  }
  return culprits;
}

// Chooses each culprit again, given the others, and drops those that are not worth their cost.
bool Search::improve(std::vector<Culprit>& culprits) {
  bool changed = false;
  for (std::size_t i = 0; i < culprits.size();) {
    model(culprits, i);
    scoreAll();
    const ComponentId before = culprits[i].component;
    std::vector<Culprit> others = culprits;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const auto found = best(others);
    changed = changed || found != before;
    if (!found) {
      culprits = std::move(others);
      continue;
    }
    culprits[i] = {*found, refine(*found, scores_[slots_[*found]].guess)};
    ++i;
  }
  return changed;
}

Verdict Search::describe(const std::vector<Culprit>& culprits, std::size_t index) {
  const Culprit& culprit = culprits[index];
  model(culprits, index);
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
  const double own = scores_[slots_[culprit.component]].score;
  std::vector<std::pair<double, ComponentId>> ranked;
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i] == culprit.component || isTaken(culprits, candidates_[i])) continue;
    if (scores_[i].score >= own - settings_.set_within) {
      ranked.emplace_back(-scores_[i].score, candidates_[i]);
    }
  }
  std::sort(ranked.begin(), ranked.end());
  verdict.alternatives.push_back(culprit.component);
  for (const auto& [score, component] : ranked) verdict.alternatives.push_back(component);
  addEvidence(verdict, culprit);
  return verdict;
}

void Search::addEvidence(Verdict& verdict, const Culprit& culprit) const {
  std::vector<std::pair<double, std::uint32_t>> worst;
  std::unordered_set<NodeId> sources;
  for (const std::uint32_t row : rows(culprit.component)) {
    const Observation& it = evidence_[row];
    ++verdict.through;
    const double odds = classes_.logRatio(now_[row], culprit.guess.rate);
    if (it.lost == 0 || odds <= 0) continue;
    ++verdict.explained;
    sources.insert(fabric_.ends(it.path).source);
    worst.emplace_back(-static_cast<double>(it.lost) / it.sent, it.flow);
  }
  std::sort(worst.begin(), worst.end());
  worst.resize(std::min<std::size_t>(worst.size(), 20));
  for (const auto& [loss, flow] : worst) verdict.worst_flows.push_back(flow);
  verdict.witnesses = static_cast<std::uint32_t>(sources.size());
}

double Search::unexplained(const std::vector<Culprit>& culprits) {
  model(culprits, kNone);
  std::uint64_t sent = 0;
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < evidence_.size(); ++i) {
    const ClassOf& of = classes_[now_[i]];
    if (of.loss != background_ || of.detour > 0) continue;
    sent += of.sent;
    lost += of.lost;
  }
  return sent == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(sent);
}

}  // namespace pingloom::localise
