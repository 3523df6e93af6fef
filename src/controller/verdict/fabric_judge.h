// Finds the links, cables and switches that lose or delay packets, from the newest windows of all
// flows and their known paths (docs/verdicts.md). It keeps what it derived from the paths until
// they change, and what is usual for each flow. One thread at a time uses it; it reads only its
// arguments. Memory: about 250 bytes for each flow with a known path.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "controller/model/fabric_map.h"
#include "controller/verdict/fabric_flow.h"
#include "controller/verdict/finding.h"
#include "controller/verdict/flow_baseline.h"
#include "controller/verdict/places.h"
#include "controller/verdict/recent_counts.h"
#include "localise/localise.h"

namespace pingloom::controller {

// What is concluded about the fabric at one moment.
struct FabricReport {
  std::vector<Finding> findings;
  // Pairs of addresses (the lower one first) with a flow whose loss, or whose delay, a finding
  // explains.
  using Pairs = std::set<std::pair<IpAddress, IpAddress>>;
  Pairs explained;
  Pairs explained_delay;
  std::uint64_t flows = 0;  // flows with a known path that were looked at
  // Flows over which bursts would tell whether the suspicions are right, no two of one source: some
  // that cross the suspected part, and some that differ only there. Empty: nothing is in doubt.
  std::vector<FlowName> to_confirm;
};

class FabricJudge {
 public:
  struct Evidence {
    std::shared_ptr<const Places> places;
    JudgedSources sources;
    std::shared_ptr<const FabricMap> map;
    KnownPaths paths;                     // REQUIRES: those that `map` was made of
    std::vector<FlowCounts> bursts = {};  // more losses of some flows
  };

  FabricReport judge(const Evidence& evidence);

 private:
  // Since when the paths of a flow are what they are. A router that begins to answer to traces
  // makes no other path (PathBoard), so what is usual for the flow is not learned anew then.
  struct Route {
    Nanos there_since = 0;
    Nanos back_since = 0;  // 0: the way back is not known
    bool maySame(const Route& other) const {
      return there_since == other.there_since &&
             (back_since == other.back_since || back_since == 0 || other.back_since == 0);
    }
  };
  // What is remembered of a flow as long as it takes the same route.
  struct Memory {
    Route route;
    FlowBaseline baseline;
    RecentCounts recent;
  };
  struct PairNumbers {
    std::uint32_t source = 0;       // of the probe's sources
    std::uint32_t destination = 0;  // of the probe's destinations
  };
  struct Flow {
    std::uint32_t probe = 0;
    std::uint32_t source = 0;       // of the probe's sources
    std::uint32_t destination = 0;  // of the probe's destinations
    std::uint32_t path = 0;
    localise::PathId there = 0;
    std::optional<localise::PathId> back = std::nullopt;  // the traced path of the flow `reverse`
    localise::PathId over = 0;                            // both together, as far as they are known
    // The flow from the destination to the source on the same path, if the probe has one.
    std::optional<PairNumbers> reverse = std::nullopt;
    Memory memory;
  };
  using FlowKey = std::tuple<std::uint32_t, IpAddress, IpAddress, std::uint32_t>;
  // What is known of one direction of a flow.
  struct Way {
    const KnownPath* known = nullptr;
    localise::PathId id = 0;
  };
  using Ways = std::map<FlowKey, Way>;
  // The evidence of one symptom, loss or delay, over the same flows.
  struct Symptom {
    Figure figure = Figure::kLoss;
    std::vector<localise::Observation> observations;
    std::vector<std::uint32_t> flows;  // those that were looked at
    bool is_long = false;              // several windows together
  };

  void build(const Evidence& evidence);
  std::vector<localise::NodeId> nodesOf(const TracedPath& path) const;
  localise::NodeId hostNode(std::uint32_t address) const;
  std::map<FlowKey, Memory> takeMemories() const;
  std::optional<Flow> flowOf(const FlowKey& key, const Ways& ways);
  PackedRow rowOf(const Flow& flow, const JudgedSources& sources) const;
  RecentCounts::Counts countsOf(const Flow& flow, const JudgedSources& sources,
                                const RowCounts& row) const;
  void observe(Symptom& symptom, std::uint32_t flow, const RecentCounts::Counts& counts) const;
  Symptom observeLoss(const Evidence& evidence);
  // The components that are accused for what one symptom shows.
  using Accused = std::vector<localise::ComponentId>;
  Symptom observeLongLoss(const Symptom& loss, const Accused& accused) const;
  // Notes that flows cross what is accused, so that their windows are forgotten when that is over.
  void note(const Accused& accused, const Symptom& loss);
  bool lasts(localise::ComponentId component, const Symptom& loss) const;
  void addBursts(Symptom& symptom, const std::vector<FlowCounts>& bursts) const;
  std::vector<FlowName> flowsToConfirm(const Symptom& loss, const FabricReport& report) const;
  std::vector<FlowName> choose(const Symptom& loss, const localise::Verdict& suspect) const;
  FlowName nameOf(const Flow& flow) const;
  Symptom observeDelay(const JudgedSources& sources);
  Accused explain(const Symptom& symptom, const localise::Settings& settings,
                  const Evidence& evidence, FabricReport& report) const;
  Finding findingOf(const localise::Verdict& verdict, const Evidence& evidence,
                    const Symptom& symptom, FabricReport::Pairs& explained) const;
  void addEvidence(Finding& finding, const std::vector<const localise::Observation*>& worst,
                   const Evidence& evidence) const;
  std::string becauseOf(const localise::Observation& it, Figure figure) const;
  // What the flows through a component are slower by than usual, compared with the others, and by
  // how much those scatter: the distance of their upper quartile from their median. Nanoseconds.
  struct Delay {
    double excess_ns;
    double scatter_ns;
  };
  Delay delayBy(localise::ComponentId component, const Symptom& symptom) const;
  bool standsOut(localise::ComponentId component, const Symptom& symptom) const;
  Culprit culpritOf(localise::ComponentId component) const;

  std::shared_ptr<const Places> places_;
  std::shared_ptr<const FabricMap> map_;
  localise::Fabric fabric_;
  std::vector<Flow> flows_;
};

}  // namespace pingloom::controller
