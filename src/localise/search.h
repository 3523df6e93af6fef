// The search for culprits: components are scored over a model of those that were chosen before.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "localise/model.h"

namespace pingloom::localise {

class Search {
 public:
  // Both references outlive the search. The evidence is valid (see localise()).
  Search(const Fabric& fabric, std::span<const Observation> evidence, const Settings& settings,
         double background);

  // Greedy choice, then passes that replace or remove each culprit.
  std::vector<Culprit> run();
  // Describes one of the culprits, given the others.
  Verdict describe(const std::vector<Culprit>& culprits, std::size_t index);
  // Loss of the observations that no culprit explains.
  double unexplained(const std::vector<Culprit>& culprits);

 private:
  struct Scored {
    double score = 0;  // gain less cost
    Guess guess;
  };
  struct Count {
    ClassId id;
    std::uint32_t members;
  };

  const std::vector<Count>& histogram(ComponentId component);
  Scored score(ComponentId component);
  void scoreAll();
  // The candidate with the highest score, if one pays its cost.
  std::optional<Culprit> best(const std::vector<Culprit>& taken);
  double valueOf(const std::vector<Count>& counts, const Guess& guess) const;
  Guess refine(ComponentId component, Guess guess);
  bool improve(std::vector<Culprit>& culprits);
  void addAlternatives(Verdict& verdict, const std::vector<Culprit>& culprits) const;
  void addEvidence(Verdict& verdict, const Culprit& culprit) const;

  const Fabric& fabric_;
  std::span<const Observation> evidence_;
  Settings settings_;
  Model model_;
  std::vector<Scored> scores_;  // of each candidate
  std::vector<std::uint32_t> tally_;
  std::vector<Count> counts_;
};

}  // namespace pingloom::localise
