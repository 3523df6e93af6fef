#include "scenario.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace pingloom::bench {
namespace {

using namespace pingloom::controller;
using Random = std::mt19937_64;

IpAddress addressOf(std::uint32_t host) { return IpAddress::fromV4(0x0A000001 + host); }

std::shared_ptr<const GridPlan> planOf(std::uint32_t hosts) {
  auto pinglist = std::make_shared<pinglist::Pinglist>();
  auto plan = std::make_shared<GridPlan>();
  ProbeGrid& probe = plan->probes.emplace_back();
  probe.spec.name = "mesh";
  for (std::uint32_t i = 0; i < hosts; ++i) {
    const std::string name = fmt::format("gpu-{}", i);
    probe.sources.push_back(addressOf(i));
    pinglist->names[addressOf(i)] = name;
    pinglist->hosts.push_back({name,
                               {{"", addressOf(i)}},
                               {{"rack", fmt::format("r{}", i / kHostsInRack)},
                                {"pod", fmt::format("p{}", i / kHostsInRack / 8)}}});
  }
  probe.destinations = probe.sources;
  plan->pinglist = std::move(pinglist);
  return plan;
}

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
std::uint32_t below(Random& random, std::uint32_t bound) {
  return std::uniform_int_distribution<std::uint32_t>(0, bound - 1)(random);
}

// Spoils pairs of a mesh, each once.
class Spoiler {
 public:
  Spoiler(std::uint32_t hosts, Random& random) : hosts_(hosts), random_(random) {}

  // A pair is spoiled with this probability.
  void spoil(std::uint32_t from, std::uint32_t to, double probability, std::uint8_t figures,
             Severity severity) {
    if (from == to || uniform(random_, 0, 1) >= probability) return;
    const std::uint64_t key = std::uint64_t{from} * hosts_ + to;
    if (!seen_.insert(key).second) return;
    bad_.push_back({from, to, from, to, severity, figures});
  }
  std::vector<BadPair> take() { return std::move(bad_); }

 private:
  const std::uint32_t hosts_;
  Random& random_;
  std::set<std::uint64_t> seen_;
  std::vector<BadPair> bad_;
};

// One fault; returns its culprit.
std::string addFault(std::uint32_t hosts, Random& random, std::set<std::uint32_t>& racks,
                     Spoiler& spoiler) {
  const std::uint32_t host = below(random, hosts);
  // Two culprits in a rack could not be told from that rack.
  if (!racks.insert(host / kHostsInRack).second) return "";
  const bool lossy = below(random, 2) == 0;
  const Severity severity = lossy ? Severity::kLossy : Severity::kVerySlow;
  const std::uint8_t network = figureBit(lossy ? Figure::kLoss : Figure::kNetwork);
  const double share = uniform(random, 0.5, 1);
  const std::uint32_t kind = below(random, 7);
  const std::uint32_t rack = host / kHostsInRack;
  const auto in_rack = [rack](std::uint32_t at) { return at / kHostsInRack == rack; };
  if (kind == 6) {
    const std::uint32_t peer = (host + 1 + below(random, hosts - 1)) % hosts;
    spoiler.spoil(host, peer, 1, network, severity);
    return fmt::format("pair gpu-{} -> gpu-{}", host, peer);
  }
  if (kind >= 4) {  // a rack's uplink, or all of its network
    for (std::uint32_t from = 0; from < hosts; ++from) {
      for (std::uint32_t to = 0; to < hosts; ++to) {
        const bool hit = kind == 4 ? in_rack(from) != in_rack(to) : in_rack(from) || in_rack(to);
        if (hit) spoiler.spoil(from, to, share, network, severity);
      }
    }
    return fmt::format("group rack=r{}", rack);
  }
  const std::uint8_t sent = kind == 3 ? figureBit(Figure::kProber) : network;
  const std::uint8_t received = kind == 3 ? figureBit(Figure::kResponder) : network;
  for (std::uint32_t peer = 0; peer < hosts; ++peer) {
    if (kind != 2) spoiler.spoil(host, peer, share, sent, severity);
    if (kind != 1) spoiler.spoil(peer, host, share, received, severity);
  }
  constexpr const char* kKinds[] = {"host", "host-send", "host-receive", "host-cpu"};
  return fmt::format("{} gpu-{}", kKinds[kind], host);
}

}  // namespace

SimulatedMesh::SimulatedMesh(std::uint32_t hosts) : hosts_(hosts), places_(planOf(hosts)) {}

Scenario makeScenario(const SimulatedMesh& mesh, std::uint64_t seed) {
  Random random(seed);
  const std::uint32_t hosts = mesh.hosts();
  Spoiler spoiler(hosts, random);
  Scenario made;
  std::set<std::uint32_t> racks;
  const std::uint32_t faults = 1 + below(random, 3);
  for (std::uint32_t i = 0; i < faults; ++i) {
    const std::string culprit = addFault(hosts, random, racks, spoiler);
    if (!culprit.empty()) made.culprits.insert(culprit);
  }
  ProbeEvidence& evidence = made.evidence;
  evidence.judged = std::uint64_t{hosts} * (hosts - 1);
  evidence.judged_out.assign(hosts, hosts - 1);
  evidence.judged_in.assign(hosts, hosts - 1);
  for (const Places::Label& label : mesh.places().labels()) {
    auto& within = evidence.judged_within.emplace_back();
    for (const std::uint64_t size : label.sizes) within.push_back(size * (size - 1));
  }
  evidence.bad = spoiler.take();
  return made;
}

std::set<std::string> found(const std::vector<Suspect>& suspects) {
  std::set<std::string> made;
  for (const Suspect& suspect : suspects) {
    made.insert(std::string(name(suspect.culprit.kind)) + " " + suspect.culprit.name);
  }
  return made;
}

}  // namespace pingloom::bench
