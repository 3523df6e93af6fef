// Finds the links, cables and switches that lose packets, from the newest windows of all flows and
// their known paths (docs/verdicts.md). It keeps what it derived from the paths until they
// change. One thread at a time uses it; it reads only its arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "controller/model/fabric_map.h"
#include "controller/verdict/finding.h"
#include "controller/verdict/places.h"
#include "localise/localise.h"

namespace pingloom::controller {

// What is concluded about the fabric at one moment.
struct FabricReport {
  std::vector<Finding> findings;
  // Pairs of addresses (the lower one first) with a flow whose loss a finding explains.
  std::set<std::pair<IpAddress, IpAddress>> explained;
  std::uint64_t flows = 0;  // flows with a known path that were looked at
};

class FabricJudge {
 public:
  struct Evidence {
    std::shared_ptr<const Places> places;
    JudgedSources sources;
    std::shared_ptr<const FabricMap> map;
    KnownPaths paths;  // REQUIRES: those that `map` was made of
  };

  FabricReport judge(const Evidence& evidence);

 private:
  struct Flow {
    std::uint32_t probe = 0;
    std::uint32_t source = 0;       // of the probe's sources
    std::uint32_t destination = 0;  // of the probe's destinations
    std::uint32_t path = 0;
    localise::PathId over = 0;
  };

  void build(const Evidence& evidence);
  std::vector<localise::NodeId> nodesOf(const TracedPath& path) const;
  localise::NodeId hostNode(std::uint32_t address) const;
  std::vector<localise::Observation> observe(const JudgedSources& sources) const;
  Finding findingOf(const localise::Verdict& verdict, const Evidence& evidence,
                    const std::vector<localise::Observation>& observations,
                    FabricReport& report) const;
  Culprit culpritOf(localise::ComponentId component) const;

  std::shared_ptr<const Places> places_;
  std::shared_ptr<const FabricMap> map_;
  localise::Fabric fabric_;
  std::vector<Flow> flows_;
};

}  // namespace pingloom::controller
