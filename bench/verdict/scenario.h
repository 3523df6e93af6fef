// Random faults of a simulated mesh: one to three culprits, each of which spoils its pairs. The
// judged pairs are made directly, without rows; what a pair's judgement needs is measured apart.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "controller/verdict/cover.h"

namespace pingloom::bench {

// A mesh of one probe: hosts of one address each, in racks of 32 and pods of 8 racks.
class SimulatedMesh {
 public:
  explicit SimulatedMesh(std::uint32_t hosts);

  std::uint32_t hosts() const { return hosts_; }
  const controller::Places& places() const { return places_; }

 private:
  std::uint32_t hosts_;
  controller::Places places_;
};

constexpr std::uint32_t kHostsInRack = 32;

// What went wrong, and what is judged because of that.
struct Scenario {
  std::set<std::string> culprits;  // as "kind name"
  controller::ProbeEvidence evidence;
};

// The same seed makes the same scenario.
Scenario makeScenario(const SimulatedMesh& mesh, std::uint64_t seed);

// Returns the culprits that were found, as "kind name".
std::set<std::string> found(const std::vector<controller::Suspect>& suspects);

}  // namespace pingloom::bench
