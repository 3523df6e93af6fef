// What a set of culprits says about each observation: the class of its counts and of its modelled
// loss.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "localise/candidates.h"
#include "localise/edges.h"
#include "localise/likelihood.h"

namespace pingloom::localise {

struct Culprit {
  ComponentId component = 0;
  Guess guess;
};

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

class Model {
 public:
  // All references outlive it. The evidence is valid (see localise()).
  Model(const Fabric& fabric, std::span<const Observation> evidence, const Settings& settings,
        double background);

  // Models these culprits, but for the one at `without`.
  void set(std::span<const Culprit> culprits, std::size_t without = kNone);
  void add(const Culprit& culprit);

  const Candidates& candidates() const { return candidates_; }
  const Classes& classes() const { return classes_; }
  ClassId classOf(std::uint32_t row) const { return now_[row]; }
  // Loss of the observations that no culprit explains.
  double unexplained() const;
  // What a culprit of this kind and rate must gain.
  double cost(ComponentId component, const Guess& guess) const;

 private:
  void fillClasses();
  std::vector<bool> findCandidates();
  void hit(const Culprit& culprit);
  void markDetours(const Culprit& culprit);
  double detourOdds(const Culprit& culprit, const Edges::Near& near) const;

  const Fabric& fabric_;
  std::span<const Observation> evidence_;
  Settings settings_;
  double background_;
  Classes classes_;
  std::vector<ClassId> healthy_;  // of each observation, without culprits
  std::vector<ClassId> now_;      // and with those that were set
  Candidates candidates_;
  Edges edges_;
  std::unordered_map<ComponentId, Edges::Near> near_;
};

}  // namespace pingloom::localise
