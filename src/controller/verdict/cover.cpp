#include "controller/verdict/cover.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "controller/verdict/tally.h"

namespace pingloom::controller {
namespace {

// A culprit has to explain this share of the pairs that it could spoil. With few peers a chance
// coincidence is likelier, so more is asked.
constexpr double kMinShare = 0.3;
constexpr double kMinShareOfFew = 0.6;
constexpr std::uint64_t kFewPeers = 4;
constexpr std::uint64_t kMinPeers = 2;
constexpr double kCpuWeight = 1.05;
// All that a host does waits for the same CPU, so its own time spoils at least about half of its
// pairs. A few of them are the scheduler's chance.
constexpr double kMinCpuShare = 0.45;
constexpr std::uint64_t kFewCpuPeers = 16;
constexpr double kMinGroupShare = 0.4;
// This part of a group's members has to be bad, each at this part of the group's share.
constexpr double kMembers = 0.75;
constexpr double kMemberShare = 0.5;
constexpr double kMinProbeShare = 0.8;
// Scores that are this near to each other cannot be told apart.
constexpr double kTie = 0.98;

enum class Side : std::uint8_t { kBoth, kSend, kReceive };

struct Candidate {
  double score = 0;
  std::uint64_t bad = 0;
  std::uint64_t judged = 0;
  std::uint32_t address = Places::kNone;
  Side side = Side::kBoth;
  bool cpu = false;  // the host's own time, and not its network side
  // The label of which the group has a value.
  std::size_t label = 0;
  std::uint32_t value = Places::kNone;
  bool crossing = false;

  bool isGroup() const { return value != Places::kNone; }
};

class Cover {
 public:
  Cover(const Places& places, ProbeEvidence evidence)
      : places_(places), evidence_(std::move(evidence)), judged_(evidence_.judged) {}

  std::vector<Suspect> run() {
    const auto all_bad = evidence_.bad;
    while (!evidence_.bad.empty() && suspects_.size() < kMaxSuspects && takeBest()) {
    }
    if (!isProbe(all_bad.size())) {
      addPairs();
      return std::move(suspects_);
    }
    Suspect probe{{CulpritKind::kProbe, probeName()}, evidence_.probe, judged_, all_bad};
    return {std::move(probe)};
  }

 private:
  const std::string& probeName() const { return places_.plan().probes[evidence_.probe].spec.name; }

  // So many bad pairs, and so many culprits, that the probe itself is a simpler explanation.
  bool isProbe(std::size_t bad) const {
    const std::size_t members = places_.plan().probes[evidence_.probe].destinations.size();
    return static_cast<double>(bad) >= kMinProbeShare * static_cast<double>(judged_) &&
           members >= 4 && suspects_.size() + evidence_.bad.size() > members / 3 + 1;
  }

  void offer(Candidate candidate, double least_share, double weight = 1) {
    if (candidate.judged == 0 || candidate.bad == 0) return;
    const auto bad = static_cast<double>(candidate.bad);
    const double share = std::min(bad / static_cast<double>(candidate.judged), 1.0);
    if (share < least_share) return;
    candidate.score = share * bad * weight;
    candidates_.push_back(candidate);
  }

  void offerAddress(std::uint32_t at, const Tally::Address& tally) {
    const std::uint64_t out = evidence_.judged_out[at];
    const std::uint64_t in = evidence_.judged_in[at];
    const auto share = [](std::uint64_t peers) {
      return peers >= kFewPeers ? kMinShare : kMinShareOfFew;
    };
    if (tally.network_out >= kMinPeers) {
      offer({0, tally.network_out, out, at, Side::kSend}, share(tally.network_out));
    }
    if (tally.network_in >= kMinPeers) {
      offer({0, tally.network_in, in, at, Side::kReceive}, share(tally.network_in));
    }
    const std::uint64_t peers = std::max(tally.network_out, tally.network_in);
    if (peers >= kMinPeers && tally.network_out > 0 && tally.network_in > 0) {
      offer({0, tally.network_out + tally.network_in, out + in, at, Side::kBoth}, share(peers));
    }
    offerCpu(at, tally);
  }

  // A starved host spoils its network figures too, so its own time goes before them. How it shows,
  // by its answers or by its own probes, depends on how it is starved.
  void offerCpu(std::uint32_t at, const Tally::Address& tally) {
    const auto offer_side = [&](Side side, std::uint64_t cpu, std::uint64_t any,
                                std::uint64_t judged, std::uint64_t peers) {
      if (cpu < kMinPeers || 2 * cpu < any) return;
      Candidate made{0, any, judged, at, side};
      made.cpu = true;
      offer(made, peers >= kFewCpuPeers ? kMinCpuShare : kMinShareOfFew, kCpuWeight);
    };
    const std::uint64_t out = evidence_.judged_out[at];
    const std::uint64_t in = evidence_.judged_in[at];
    offer_side(Side::kSend, tally.cpu_out, tally.any_out, out, tally.any_out);
    offer_side(Side::kReceive, tally.cpu_in, tally.any_in, in, tally.any_in);
    if (tally.any_out == 0 || tally.any_in == 0) return;
    offer_side(Side::kBoth, tally.cpu_out + tally.cpu_in, tally.any_out + tally.any_in, out + in,
               std::max(tally.any_out, tally.any_in));
  }

  // The members of a group are bad alike. Where only some are, they are at fault, and not the
  // group.
  bool isAlike(std::size_t label, std::uint32_t value, double share, const Tally& tally) const {
    std::size_t present = 0;
    std::size_t bad = 0;
    for (std::size_t at = 0; at < places_.addresses().size(); ++at) {
      const std::uint64_t judged = evidence_.judged_out[at] + evidence_.judged_in[at];
      if (places_.labels()[label].of[at] != value || judged == 0) continue;
      ++present;
      const Tally::Address& of = tally.addresses()[at];
      const auto own = static_cast<double>(of.network_out + of.network_in);
      bad += own >= kMemberShare * share * static_cast<double>(judged) ? 1 : 0;
    }
    return bad >= 2 && static_cast<double>(bad) >= kMembers * static_cast<double>(present);
  }

  void offerGroup(std::size_t label, std::uint32_t value, const Tally& tally) {
    const Tally::Group& group = tally.groups()[label][value];
    if (group.network_all == 0) return;
    // Judged pairs; those within the group count twice.
    std::uint64_t ends = 0;
    for (std::size_t at = 0; at < places_.addresses().size(); ++at) {
      if (places_.labels()[label].of[at] != value) continue;
      ends += evidence_.judged_out[at] + evidence_.judged_in[at];
    }
    const std::uint64_t within = std::min(evidence_.judged_within[label][value], ends / 2);
    const double share = static_cast<double>(group.network_all) /
                         static_cast<double>(std::max<std::uint64_t>(ends - within, 1));
    if (!isAlike(label, value, share, tally)) return;
    Candidate made;
    made.label = label;
    made.value = value;
    made.bad = group.network_all;
    made.judged = ends - within;
    // Where the probe has no other pairs, all of it is no group.
    if (made.judged < judged_) offer(made, kMinGroupShare);
    made.crossing = true;
    made.bad = group.network_crossing;
    made.judged = ends - 2 * within;
    if (within > 0 && made.judged > 0) offer(made, kMinGroupShare);
  }

  bool takeBest() {
    const Tally tally(places_, evidence_);
    candidates_.clear();
    for (std::uint32_t at = 0; at < tally.addresses().size(); ++at) {
      const Tally::Address& of = tally.addresses()[at];
      if (of.any_out + of.any_in > 0) offerAddress(at, of);
    }
    for (std::size_t label = 0; label < tally.groups().size(); ++label) {
      for (std::uint32_t value = 0; value < tally.groups()[label].size(); ++value) {
        offerGroup(label, value, tally);
      }
    }
    if (candidates_.empty()) return false;
    const auto best =
        std::max_element(candidates_.begin(), candidates_.end(),
                         [](const Candidate& a, const Candidate& b) { return a.score < b.score; });
    accept(*best);
    return true;
  }

  void accept(const Candidate& best) {
    Suspect made{culpritOf(best), evidence_.probe, best.judged, {}};
    const std::string entity = entityOf(made.culprit);
    for (const Candidate& other : candidates_) {
      if (other.score < kTie * best.score || made.candidates.size() == Incident::kMaxCandidates) {
        continue;
      }
      const Culprit culprit = culpritOf(other);
      if (entityOf(culprit) != entity) made.candidates.push_back(culprit);
    }
    if (!made.candidates.empty()) {
      made.tell = "A probe from or to a host outside of these would tell them apart.";
    }
    std::vector<BadPair> rest;
    for (const BadPair& pair : evidence_.bad) {
      if (!explains(best, pair)) {
        rest.push_back(pair);
        continue;
      }
      made.bad.push_back(pair);
      forget(pair);
    }
    evidence_.bad = std::move(rest);
    suspects_.push_back(std::move(made));
  }

  // An explained pair is evidence neither for nor against anybody else.
  void forget(const BadPair& pair) {
    const auto less = [](std::uint64_t& count) { count -= count > 0 ? 1 : 0; };
    less(evidence_.judged_out[pair.from]);
    less(evidence_.judged_in[pair.to]);
    for (std::size_t label = 0; label < places_.labels().size(); ++label) {
      const auto& of = places_.labels()[label].of;
      if (of[pair.from] != Places::kNone && of[pair.from] == of[pair.to]) {
        less(evidence_.judged_within[label][of[pair.from]]);
      }
    }
  }

  bool explains(const Candidate& culprit, const BadPair& pair) const {
    const bool network = (pair.figures & kNetworkFigures) != 0;
    if (culprit.isGroup()) {
      const auto& of = places_.labels()[culprit.label].of;
      const bool from = of[pair.from] == culprit.value;
      const bool to = of[pair.to] == culprit.value;
      return network && (culprit.crossing ? from != to : from || to);
    }
    const bool from = pair.from == culprit.address;
    const bool to = pair.to == culprit.address;
    if (!culprit.cpu && !network) return false;
    switch (culprit.side) {
      case Side::kSend:
        return from;
      case Side::kReceive:
        return to;
      case Side::kBoth:
        break;
    }
    return from || to;
  }

  Culprit culpritOf(const Candidate& candidate) const {
    if (candidate.isGroup()) {
      const Places::Label& label = places_.labels()[candidate.label];
      return {CulpritKind::kGroup, label.name + "=" + label.values[candidate.value]};
    }
    const Places::Address& address = places_.addresses()[candidate.address];
    const Places::Host& host = places_.hosts()[address.host];
    if (candidate.cpu) return {CulpritKind::kHostCpu, host.name};
    if (host.addresses.size() == 1) {
      return {static_cast<CulpritKind>(static_cast<int>(CulpritKind::kHost) +
                                       static_cast<int>(candidate.side)),
              host.name};
    }
    return {static_cast<CulpritKind>(static_cast<int>(CulpritKind::kAddress) +
                                     static_cast<int>(candidate.side)),
            address.name};
  }

  // The pairs that nothing larger explains, both directions of a pair together.
  void addPairs() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<BadPair>> pairs;
    std::vector<BadPair> all;
    for (const BadPair& pair : evidence_.bad) {
      if (!isPairsFault(pair)) continue;
      pairs[std::minmax(pair.from, pair.to)].push_back(pair);
      all.push_back(pair);
    }
    if (pairs.size() > kMaxSinglePairs) {
      Suspect& made = suspects_.emplace_back(
          Suspect{{CulpritKind::kProbe, probeName()}, evidence_.probe, judged_, std::move(all)});
      made.settled = false;
      return;
    }
    for (auto& [ends, bad] : pairs) suspects_.push_back(pairSuspect(ends, std::move(bad)));
  }

  // A host's own time concerns all that it does and never a pair alone. Only where one of the ends
  // has no other pair, its own time cannot be told from the pair.
  bool isPairsFault(const BadPair& pair) const {
    if ((pair.figures & kNetworkFigures) != 0) return true;
    const auto only = [this](std::uint32_t end) {
      return evidence_.judged_out[end] <= 1 && evidence_.judged_in[end] <= 1;
    };
    return only(pair.from) || only(pair.to);
  }

  // Whether few other pairs of its ends are unsettled in the same way. Jitter alone is a few late
  // packets, and a single pair's may be a busy core's.
  bool isSettledPair(std::pair<std::uint32_t, std::uint32_t> ends,
                     const std::vector<BadPair>& bad) const {
    const auto is_jitter = [](const BadPair& pair) {
      return (pair.figures & kNetworkFigures) == figureBit(Figure::kJitter);
    };
    if (std::all_of(bad.begin(), bad.end(), is_jitter)) return false;
    const auto unsettled = std::count_if(
        evidence_.unsettled.begin(), evidence_.unsettled.end(), [&](const BadPair& pair) {
          const auto at = [&](std::uint32_t end) { return pair.from == end || pair.to == end; };
          // Both are its own other direction.
          return (pair.figures & bad.front().figures & kNetworkFigures) != 0 &&
                 at(ends.first) != at(ends.second);
        });
    return 2 * static_cast<std::size_t>(unsettled) <= bad.size();
  }

  Suspect pairSuspect(std::pair<std::uint32_t, std::uint32_t> ends,
                      std::vector<BadPair> bad) const {
    const auto& addresses = places_.addresses();
    const std::string& from = addresses[bad.front().from].name;
    const std::string& to = addresses[bad.front().to].name;
    Suspect made{{CulpritKind::kPair, from + (bad.size() > 1 ? " <-> " : " -> ") + to},
                 evidence_.probe,
                 bad.size(),
                 bad};
    made.settled = isSettledPair(ends, bad);
    for (const std::uint32_t end : {ends.first, ends.second}) {
      const std::uint64_t judged = evidence_.judged_out[end] + evidence_.judged_in[end];
      // All that is judged of this end is this pair, so the end may be at fault as well.
      if (ends.first == ends.second || judged > bad.size()) continue;
      made.candidates.push_back({CulpritKind::kHost, places_.hosts()[addresses[end].host].name});
      made.tell =
          fmt::format("A probe between {} and a third host would tell.", addresses[end].name);
    }
    return made;
  }

  const Places& places_;
  ProbeEvidence evidence_;  // its pairs and counts: those that nothing explains yet
  const std::uint64_t judged_;
  std::vector<Candidate> candidates_;
  std::vector<Suspect> suspects_;
};

}  // namespace

std::vector<Suspect> coverProbe(const Places& places, ProbeEvidence evidence) {
  if (evidence.unsettled.empty()) return Cover(places, std::move(evidence)).run();
  // The next window makes unsettled pairs bad. Whoever is at fault then as well is settled.
  ProbeEvidence next = evidence;
  next.bad.insert(next.bad.end(), next.unsettled.begin(), next.unsettled.end());
  std::vector<Suspect> made = Cover(places, std::move(evidence)).run();
  const std::vector<Suspect> then = Cover(places, std::move(next)).run();
  for (Suspect& suspect : made) {
    if (suspect.culprit.kind == CulpritKind::kPair) continue;
    suspect.settled =
        suspect.settled && std::any_of(then.begin(), then.end(), [&](const Suspect& each) {
          return each.culprit == suspect.culprit;
        });
  }
  return made;
}

}  // namespace pingloom::controller
