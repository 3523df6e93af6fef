// Finds the links, cables, switches and hosts that lose or delay probes, by greedy maximum
// likelihood. docs/localisation.md has the model, what was measured, and its limits.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "localise/fabric.h"

namespace pingloom::localise {

// What one flow measured in one window over one path: both directions apart where they are known,
// else the round trip. For delay, `lost` counts the samples above the flow's own baseline.
struct Observation {
  std::uint32_t flow = 0;  // the caller's number, which comes back in the evidence
  PathId path = 0;
  std::uint32_t sent = 0;
  std::uint32_t lost = 0;
  NodeId witness = kUnknownNode;  // the host that tells it; kUnknownNode: the path's source
};

constexpr std::uint32_t kMaxSent = 1'000'000;  // probes of one observation; more are refused

struct Settings {
  double background = 1e-5;      // loss of a healthy path, before it is estimated
  double max_background = 1e-3;  // the estimate's upper bound
  double wrong_path = 5e-4;      // probability that an observation's path is not the recorded one
  double detour = 0.05;          // the most for a path that could cross a culprit found so far
  double cost_link = 11.5;       // nats that a culprit of each kind must gain
  double cost_host = 11.5;
  double cost_cable = 12;
  double cost_switch = 12.5;
  // Busy hosts lose a little all the time, so little loss at a host costs less than a fault does.
  // It is reported only if its gain pays for a fault.
  double cost_noise = 5;
  double most_noise = 0.011;  // the highest rate that is taken for noise
  double cost_share = 4;      // in addition, for a culprit that hits only a share of its flows
  double set_within = 3;      // nats within which alternatives belong to the verdict's set
  double min_rate = 5e-4;     // culprits below it are not reported
  std::size_t most = 16;      // culprits at most
};

// The settings for samples above a baseline instead of losses.
Settings delaySettings();

struct Verdict {
  ComponentId component = 0;
  Kind kind = Kind::kLink;
  double rate = 0;      // loss of the flows that it hits
  double rate_low = 0;  // the likelihood's 95 % interval
  double rate_high = 0;
  double share = 1;  // part of its flows that it hits
  double gain = 0;   // nats by which it explains the evidence better than the other verdicts alone
  std::vector<ComponentId> alternatives;  // the set that cannot be told apart, itself first
  // The part outside the set that explains the evidence best instead, and how many nats less it
  // gains. A cable and its directions are one part. Without a rival, the lead is infinite.
  std::optional<ComponentId> rival;
  double lead = std::numeric_limits<double>::infinity();
  std::uint32_t through = 0;               // flows that cross it
  std::uint32_t explained = 0;             // those of them that lost something and that it hits
  std::uint32_t witnesses = 0;             // distinct hosts that tell of the explained flows
  std::vector<std::uint32_t> worst_flows;  // at most 20, the highest loss first
};

struct Outcome {
  std::vector<Verdict> verdicts;  // the highest gain first
  double background = 0;          // estimated loss of healthy paths
  std::uint32_t refused = 0;      // observations with lost > sent, too many probes or no such path
};

// Pure and deterministic. Observations without probes are ignored. Memory grows with the number of
// components of all observed paths: at most 4 bytes each and 40 bytes for each observation.
Outcome localise(const Fabric& fabric, std::span<const Observation> evidence,
                 const Settings& settings = {});

}  // namespace pingloom::localise
