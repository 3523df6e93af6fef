#include "plan/link_cover.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "plan/mix.h"

namespace pingloom::plan {
namespace {

constexpr std::uint32_t kMaxPerRound = 8;  // pairs for one link
constexpr std::uint32_t kUnknownSwitch = TracedFlow::kUnknown;
constexpr std::size_t kMaxSwitches = 31;  // of a path whose length counts

using Ends = std::pair<std::uint32_t, std::uint32_t>;

// Where a switch stands in the paths of flows: so many switches before it, of so many.
struct Place {
  std::uint32_t node = kUnknownSwitch;
  std::uint32_t index = 0;
  std::uint32_t length = 0;

  std::uint64_t key() const { return std::uint64_t{node} << 16 | index << 8 | length; }
};

struct Link {
  std::uint32_t flows = 0;
  std::uint32_t index = 0;   // of its first end
  std::uint32_t length = 0;  // of the paths through it; 0: not known

  // Long paths have more ends to choose from. Whatever the order of traces, the place is the same.
  void takePlace(std::uint32_t at, std::uint32_t of) {
    if (of < length || (of == length && at >= index)) return;
    index = at;
    length = of;
  }
};

class Chooser {
 public:
  explicit Chooser(const CoverQuestion& question)
      : question_(question),
        most_(std::max(2U, question.across / 4)),
        sources_of_(question.targets->members()),
        pairs_of_(question.targets->members()),
        edge_of_(question.targets->members(), kUnknownSwitch) {}

  CoverAnswer run() {
    countLinks();
    for (const auto& [source, destination] : question_.chosen) {
      if (std::max(source, destination) < pairs_of_.size()) count(source, destination);
    }
    findMembers();
    std::vector<std::pair<Ends, Link>> few;
    for (const auto& [ends, link] : links_) {
      if (link.flows < question_.cover) few.emplace_back(ends, link);
    }
    std::stable_sort(few.begin(), few.end(),
                     [](const auto& a, const auto& b) { return a.second.flows < b.second.flows; });
    std::map<Ends, CoverState> states;
    for (const auto& [ends, link] : few) states[ends] = cover(ends, link);
    for (const auto& [ends, link] : links_) {
      const auto state = states.find(ends);
      answer_.links.push_back({ends.first, ends.second, link.flows,
                               state == states.end() ? CoverState::kCovered : state->second});
    }
    return std::move(answer_);
  }

 private:
  // A link that flows cross in one direction has the other one, too.
  void countLinks() {
    for (const TracedFlow& flow : question_.flows) {
      const auto length = static_cast<std::uint32_t>(flow.switches.size());
      const bool whole = flow.reached && length <= kMaxSwitches;
      for (std::uint32_t i = 0; i + 1 < length; ++i) {
        const Ends ends{flow.switches[i], flow.switches[i + 1]};
        if (ends.first == kUnknownSwitch || ends.second == kUnknownSwitch ||
            ends.first == ends.second)
          continue;
        Link& link = links_[ends];
        ++link.flows;
        Link& opposite = links_[{ends.second, ends.first}];
        if (!whole) continue;
        link.takePlace(i, length);
        opposite.takePlace(length - 2 - i, length);
      }
      if (!whole || length == 0) continue;
      edge_of_[flow.source] = flow.switches.front();
      edge_of_[flow.destination] = flow.switches.back();
    }
  }

  // Finds the members below and above the links that are crossed too seldom.
  void findMembers() {
    for (const auto& [ends, link] : links_) {
      if (link.flows >= question_.cover || link.length == 0) continue;
      before_[Place{ends.first, link.index, link.length}.key()];
      behind_[Place{ends.second, link.index + 1, link.length}.key()];
    }
    for (const TracedFlow& flow : question_.flows) {
      const auto length = static_cast<std::uint32_t>(flow.switches.size());
      if (!flow.reached || length > kMaxSwitches || length == 0) continue;
      lengths_[edges(flow.source, flow.destination)] |= 1U << length;
      for (std::uint32_t i = 0; i < length; ++i) {
        if (flow.switches[i] == kUnknownSwitch) continue;
        const std::uint64_t key = Place{flow.switches[i], i, length}.key();
        if (const auto found = before_.find(key); found != before_.end()) {
          found->second.push_back(flow.source);
        }
        if (const auto found = behind_.find(key); found != behind_.end()) {
          found->second.push_back(flow.destination);
        }
      }
    }
    for (auto* side : {&before_, &behind_}) {
      for (auto& [key, members] : *side) {
        std::sort(members.begin(), members.end());
        members.erase(std::unique(members.begin(), members.end()), members.end());
      }
    }
  }

  std::uint64_t edges(std::uint32_t source, std::uint32_t destination) const {
    return std::uint64_t{edge_of_[source]} << 32 | edge_of_[destination];
  }

  // How many pairs let expect the flows that a link lacks, if a switch spreads flows evenly.
  std::uint32_t pairsFor(const Ends& ends, const Link& link) const {
    std::uint32_t out = 0;
    std::uint32_t in = 0;
    for (auto at = links_.lower_bound({ends.first, 0});
         at != links_.end() && at->first.first == ends.first; ++at) {
      out += at->second.index == link.index && at->second.length == link.length ? 1 : 0;
    }
    // Each link has its opposite, so the links into a switch are those out of it.
    for (auto at = links_.lower_bound({ends.second, 0});
         at != links_.end() && at->first.first == ends.second; ++at) {
      in += at->second.length == link.length && at->second.index + link.index + 2 == link.length
                ? 1
                : 0;
    }
    const std::uint64_t one_of = std::max(1U, std::min(out, in));
    const std::uint64_t lacks = question_.cover - link.flows;
    const std::uint64_t pairs = (lacks * one_of + question_.paths - 1) / question_.paths;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(pairs, kMaxPerRound));
  }

  // The least used first; equal ones in an order that is another one for each link.
  std::vector<std::uint32_t> ordered(const std::vector<std::uint32_t>& members,
                                     const std::vector<std::uint32_t>& used,
                                     const Ends& ends) const {
    std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t>> keys;
    keys.reserve(members.size());
    const std::uint64_t seed = mix(ends.first, ends.second);
    for (const std::uint32_t member : members) {
      keys.emplace_back(used[member], mix(seed, member), member);
    }
    std::sort(keys.begin(), keys.end());
    std::vector<std::uint32_t> made;
    made.reserve(keys.size());
    for (const auto& key : keys) made.push_back(std::get<2>(key));
    return made;
  }

  CoverState cover(const Ends& ends, const Link& link) {
    if (link.length == 0) return CoverState::kNoPair;
    const auto& before = before_[Place{ends.first, link.index, link.length}.key()];
    const auto& behind = behind_[Place{ends.second, link.index + 1, link.length}.key()];
    // What was chosen for other links may cross this one, too.
    const std::uint32_t wanted = pairsFor(ends, link);
    const auto chosen =
        std::count_if(answer_.pairs.begin(), answer_.pairs.end(), [&](const auto& pair) {
          return std::binary_search(before.begin(), before.end(), pair.first) &&
                 std::binary_search(behind.begin(), behind.end(), pair.second) &&
                 fits(pair.first, pair.second, link);
        });
    auto made = static_cast<std::uint32_t>(std::min<std::ptrdiff_t>(chosen, wanted));
    auto destinations = ordered(behind, sources_of_, {ends.second, ends.first});
    const std::size_t full = std::erase_if(
        destinations, [&](std::uint32_t member) { return sources_of_[member] >= most_; });
    bool at_limit = full > 0;
    for (const std::uint32_t source : ordered(before, pairs_of_, ends)) {
      if (made >= wanted) break;
      if (pairs_of_[source] >= most_ || taken_.size() >= kMaxExtraPairs) {
        at_limit = true;
        continue;
      }
      const auto at = std::find_if(
          destinations.begin(), destinations.end(),
          [&](std::uint32_t destination) { return mayCross(source, destination, link); });
      if (at == destinations.end()) continue;
      count(source, *at);
      answer_.pairs.emplace_back(source, *at);
      ++made;
      if (sources_of_[*at] >= most_) {
        destinations.erase(at);
      } else {
        std::rotate(at, at + 1, destinations.end());  // it was used
      }
    }
    if (made > 0) return CoverState::kChosen;
    return at_limit ? CoverState::kAtLimit : CoverState::kNoPair;
  }

  bool mayCross(std::uint32_t source, std::uint32_t destination, const Link& link) const {
    const AddressList& members = *question_.members;
    if (question_.targets->contains(source, destination) || source == destination ||
        members[source].isV4() != members[destination].isV4() ||
        taken_.contains(std::uint64_t{source} << 32 | destination)) {
      return false;
    }
    return fits(source, destination, link);
  }
  // Whether paths between the two are as long as those through the link, as far as it is known.
  bool fits(std::uint32_t source, std::uint32_t destination, const Link& link) const {
    const auto known = lengths_.find(edges(source, destination));
    return known == lengths_.end() || (known->second & 1U << link.length) != 0;
  }
  void count(std::uint32_t source, std::uint32_t destination) {
    taken_.insert(std::uint64_t{source} << 32 | destination);
    ++pairs_of_[source];
    ++sources_of_[destination];
  }

  const CoverQuestion& question_;
  const std::uint32_t most_;
  std::map<Ends, Link> links_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> before_;  // sources, by Place
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> behind_;  // destinations, by Place
  std::unordered_map<std::uint64_t, std::uint32_t> lengths_;  // bits, between two edge switches
  std::unordered_set<std::uint64_t> taken_;                   // chosen pairs of all rounds
  std::vector<std::uint32_t> sources_of_;                     // by destination: its chosen pairs
  std::vector<std::uint32_t> pairs_of_;                       // by source: likewise
  std::vector<std::uint32_t> edge_of_;                        // by member: the switch next to it
  CoverAnswer answer_;
};

}  // namespace

const char* name(CoverState state) {
  switch (state) {
    case CoverState::kCovered:
      return "covered";
    case CoverState::kChosen:
      return "chosen";
    case CoverState::kNoPair:
      return "no pair";
    case CoverState::kAtLimit:
      return "at limit";
  }
  return "";
}

CoverAnswer coverLinks(const CoverQuestion& question) { return Chooser(question).run(); }

}  // namespace pingloom::plan
