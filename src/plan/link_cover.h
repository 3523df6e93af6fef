// Which links of a fabric the flows of a probe that samples cross too seldom, and which further
// pairs would cross them. Flows have to be traced first; nobody knows before which path the fabric
// chooses for a pair, so a pair is chosen by its ends: it leaves below the link and arrives above
// it, or the other way round. Whether its flows take the very link shows when they are traced, and
// then the next round chooses again. Pure functions of their arguments; any thread.
//
// Pairs are only ever added, so that nothing oscillates. They are bounded: a member is the source,
// and the destination, of at most a quarter of `across` of them, or two, and there are at most
// kMaxExtraPairs (plan.h).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "plan/sampling.h"

namespace pingloom::plan {

// What a trace has shown of a flow. Members are known by their number in the probe's list.
struct TracedFlow {
  static constexpr std::uint32_t kUnknown = 0xffffffff;

  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::vector<std::uint32_t> switches;  // kUnknown: it did not answer
  bool reached = true;                  // whether these are all
};

enum class CoverState : std::uint8_t {
  kCovered,
  kChosen,   // pairs were chosen for it in this round
  kNoPair,   // all pairs that could cross it are probed already
  kAtLimit,  // as far as the bounds allow
};
const char* name(CoverState state);

// One direction of a link.
struct LinkCover {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t flows = 0;
  CoverState state = CoverState::kCovered;
};

struct CoverQuestion {
  const Targets* targets = nullptr;  // the pairs that are probed, chosen ones included
  const AddressList* members = nullptr;
  std::uint32_t across = 0;
  std::uint32_t paths = 1;
  std::uint32_t cover = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> chosen;  // in earlier rounds
  std::vector<TracedFlow> flows;
};

struct CoverAnswer {
  std::vector<LinkCover> links;  // all that flows cross in either direction, ordered by their ends
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;  // to be added
};

// A chosen pair whose members are not both in the list is skipped. REQUIRES: those in `flows` are.
CoverAnswer coverLinks(const CoverQuestion& question);

}  // namespace pingloom::plan
