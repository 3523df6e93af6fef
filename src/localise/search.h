// The search for culprits: a model assigns every observation a class, components are scored over
// the model, and the model takes the culprits that were chosen.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "localise/likelihood.h"

namespace pingloom::localise {

struct Culprit {
  ComponentId component = 0;
  Guess guess;
};

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

  void findCandidates();
  void fillRows();
  std::span<const std::uint32_t> rows(ComponentId component) const;
  const std::vector<Count>& histogram(ComponentId component);
  Scored score(ComponentId component);
  void scoreAll();
  std::optional<ComponentId> best(const std::vector<Culprit>& taken) const;
  double valueOf(const std::vector<Count>& counts, const Guess& guess) const;
  Guess refine(ComponentId component, Guess guess);
  void apply(const Culprit& culprit);
  void markDetours(const Culprit& culprit);
  void model(const std::vector<Culprit>& culprits, std::size_t without);
  bool improve(std::vector<Culprit>& culprits);
  void addEvidence(Verdict& verdict, const Culprit& culprit) const;
  double cost(ComponentId component) const;

  const Fabric& fabric_;
  std::span<const Observation> evidence_;
  Settings settings_;
  double background_;
  Classes classes_;
  std::vector<ClassId> healthy_;  // class of each observation without culprits
  std::vector<ClassId> now_;      // and in the current model
  std::vector<std::uint32_t> lossy_;
  std::vector<ComponentId> candidates_;
  std::vector<std::uint32_t> slots_;   // of each component: its candidate's number, or kNoSlot
  std::vector<std::uint32_t> begins_;  // of each candidate's observations in rows_
  std::vector<std::uint32_t> rows_;
  std::vector<Scored> scores_;  // of each candidate
  std::vector<std::uint32_t> tally_;
  std::vector<Count> counts_;
};

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

}  // namespace pingloom::localise
