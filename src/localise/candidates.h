// The components that may be culprits, and the observations that cross each of them.
#pragma once

#include <span>
#include <vector>

#include "localise/localise.h"

namespace pingloom::localise {

class Candidates {
 public:
  // Takes each component that `may_be` says. Keeps 4 bytes for each of their observations.
  Candidates(const Fabric& fabric, std::span<const Observation> evidence,
             const std::vector<bool>& may_be);

  std::size_t size() const { return ids_.size(); }
  ComponentId operator[](std::size_t index) const { return ids_[index]; }
  // The index of a component that is one of them.
  std::size_t indexOf(ComponentId component) const { return slots_[component]; }
  // The numbers of a candidate's observations, in rising order.
  std::span<const std::uint32_t> rows(ComponentId component) const;

 private:
  std::vector<ComponentId> ids_;
  std::vector<std::uint32_t> slots_;   // of each component
  std::vector<std::uint32_t> begins_;  // of each candidate's part of rows_
  std::vector<std::uint32_t> rows_;
};

}  // namespace pingloom::localise
