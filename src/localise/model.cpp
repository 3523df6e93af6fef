#include "localise/model.h"

#include <algorithm>
#include <cmath>

namespace pingloom::localise {
namespace {

// Every fitted rate makes new classes. When there are so many, those of former models are dropped.
constexpr std::size_t kMaxClasses = 50'000;
// A culprit tells how many paths are wrong if at least this part of its flows lose something.
constexpr double kTelling = 0.2;
// The estimate is taken this many times, because too much costs less than a wrong accusation.
constexpr double kMargin = 2;
constexpr std::array kDetourOdds = {0.0005, 0.0007, 0.001, 0.0014, 0.002, 0.003, 0.004,
                                    0.006,  0.008,  0.012, 0.017,  0.024, 0.035};

}  // namespace

Model::Model(const Fabric& fabric, std::span<const Observation> evidence, const Settings& settings,
             double background)
    : fabric_(fabric),
      evidence_(evidence),
      settings_(settings),
      background_(background),
      classes_(settings),
      candidates_(fabric, evidence, findCandidates()),
      edges_(fabric, evidence) {}

void Model::fillClasses() {
  classes_.clear();
  healthy_.clear();
  healthy_.reserve(evidence_.size());
  Observation last;
  ClassId last_class = 0;
  for (const Observation& it : evidence_) {
    if (healthy_.empty() || it.sent != last.sent || it.lost != last.lost) {
      last_class = classes_.find({it.sent, it.lost, background_, 0, 0});
      last = it;
    }
    healthy_.push_back(last_class);
  }
  now_ = healthy_;
}

double Model::cost(ComponentId component, const Guess& guess) const {
  const Component& it = fabric_.components()[component];
  const double share = guess.share < 1 ? settings_.cost_share : 0;
  if (it.at_host) {
    return share +
           (guess.rate <= settings_.most_noise ? settings_.cost_noise : settings_.cost_host);
  }
  if (it.kind == Kind::kCable) return share + settings_.cost_cable;
  if (it.kind == Kind::kSwitch) return share + settings_.cost_switch;
  return share + settings_.cost_link;
}

// No component can gain more than its lossy observations do when each has its own best rate.
// Whatever cannot pay its cost that way is left out before the clean observations are looked at.
std::vector<bool> Model::findCandidates() {
  fillClasses();
  std::vector<double> bounds(fabric_.components().size(), 0.0);
  for (std::size_t row = 0; row < evidence_.size(); ++row) {
    const Observation& it = evidence_[row];
    if (it.lost == 0) continue;
    const double own = static_cast<double>(it.lost) / it.sent;
    const double most = std::max(0.0, classes_.logRatio(healthy_[row], own));
    for (const ComponentId component : fabric_.componentsOf(it.path)) bounds[component] += most;
  }
  std::vector<bool> found(bounds.size());
  for (ComponentId id = 0; id < bounds.size(); ++id) found[id] = bounds[id] > cost(id, {0, 1});
  return found;
}

void Model::set(std::span<const Culprit> culprits, std::size_t without) {
  if (classes_.size() > kMaxClasses) fillClasses();
  now_ = healthy_;
  // Detours come last, because they are told from what no culprit explains.
  for (std::size_t i = 0; i < culprits.size(); ++i) {
    if (i != without) hit(culprits[i]);
  }
  for (std::size_t i = 0; i < culprits.size(); ++i) {
    if (i != without) markDetours(culprits[i]);
  }
}

void Model::add(const Culprit& culprit) {
  hit(culprit);
  markDetours(culprit);
}

void Model::hit(const Culprit& culprit) {
  std::unordered_map<ClassId, ClassId> moved;
  const Guess& guess = culprit.guess;
  for (const std::uint32_t row : candidates_.rows(culprit.component)) {
    const auto [it, added] = moved.try_emplace(now_[row], now_[row]);
    if (added) {
      const double odds = classes_.logRatio(it->first, guess.rate);
      // A flow of a black hole is hit or not, and is taken to be what is likelier.
      const bool is_hit =
          guess.share >= 1 || odds + std::log(guess.share) > std::log1p(-guess.share);
      ClassOf of = classes_[it->first];
      of.loss = together(of.loss, guess.rate);
      if (is_hit) it->second = classes_.find(of);
    }
    now_[row] = it->second;
  }
}

// A flow may have left its recorded path for one through the culprit if flows between the same
// edges of the fabric cross it. Only lossy observations need the term: it changes the likelihood
// of the others by a constant.
void Model::markDetours(const Culprit& culprit) {
  if (fabric_.components()[culprit.component].at_host) return;
  auto [it, added] = near_.try_emplace(culprit.component);
  if (added) it->second = edges_.near(candidates_.rows(culprit.component));
  const Edges::Near& near = it->second;
  const double odds = detourOdds(culprit, near);
  for (const std::uint32_t row : near.lossy) {
    ClassOf of = classes_[now_[row]];
    of.detour = std::max(of.detour, together(background_, culprit.guess.rate));
    of.detour_odds = std::max(of.detour_odds, odds);
    now_[row] = classes_.find(of);
  }
}

// How many flows lose near a culprit though they do not cross it tells how many paths are wrong.
double Model::detourOdds(const Culprit& culprit, const Edges::Near& near) const {
  double bad = 0;
  for (const std::uint32_t row : near.lossy) {
    const ClassOf& of = classes_[now_[row]];
    const double loses = 1 - std::pow(1 - culprit.guess.rate, of.sent);
    const bool unexplained = of.loss == background_ && of.detour_odds == 0;
    if (loses < kTelling || !unexplained) continue;
    if (classes_.logRatio(now_[row], culprit.guess.rate) > 0) bad += 1 / loses;
  }
  const double share = kMargin * bad / std::max<double>(near.all, 1);
  for (const double level : kDetourOdds) {
    if (share <= level) return level;
  }
  return settings_.detour;
}

double Model::unexplained() const {
  std::uint64_t sent = 0;
  std::uint64_t lost = 0;
  for (const ClassId id : now_) {
    const ClassOf& of = classes_[id];
    if (of.loss != background_ || of.detour_odds > 0) continue;
    sent += of.sent;
    lost += of.lost;
  }
  return sent == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(sent);
}

}  // namespace pingloom::localise
