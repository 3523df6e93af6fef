// How right a localiser's verdicts are; docs/localisation.md has the rules.
#pragma once

#include <optional>
#include <set>

#include "scenario.h"

namespace pingloom::bench {

struct Answer {
  localise::ComponentId component = 0;
  std::vector<localise::ComponentId> set;  // the component itself and what it cannot be told from
};

struct Score {
  std::uint64_t right = 0;  // answers that name a fault
  std::uint64_t wrong = 0;  // answers that do not
  std::uint64_t found = 0;  // faults that were named
  std::uint64_t faults = 0;
  std::uint64_t exact = 0;   // right answers that are the very component
  std::uint64_t kind = 0;    // right answers of the fault's kind
  std::uint64_t set = 0;     // components in all right answers' sets
  std::uint64_t clean = 0;   // trials without a fault
  std::uint64_t alarms = 0;  // those of them with an answer
  double milliseconds = 0;
  std::uint64_t runs = 0;

  // `links_only` localisers cannot name a switch, so a link of a faulty switch is right.
  void add(const World& world, const std::vector<Answer>& answers, bool links_only);
};

}  // namespace pingloom::bench
