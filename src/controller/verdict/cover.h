// Explains the bad pairs of one probe by as few culprits as possible. docs/verdicts.md has the
// score and its reasons. The same evidence always gives the same culprits in the same order. Pure;
// any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/vocabulary.h"
#include "controller/model/board.h"
#include "controller/model/incident.h"
#include "controller/verdict/places.h"

namespace pingloom::controller {

// A pair that is judged slow or worse.
struct BadPair {
  std::uint32_t source = 0;  // index in the probe's sources
  std::uint32_t destination = 0;
  std::uint32_t from = 0;  // numbers in Places
  std::uint32_t to = 0;
  Severity severity = Severity::kNone;
  std::uint8_t figures = 0;  // as in Judged

  bool shows() const { return (figures & Judged::kFading) == 0; }
};

// The judged pairs of one probe.
struct ProbeEvidence {
  std::uint32_t probe = 0;
  std::uint64_t judged = 0;               // pairs
  std::vector<std::uint64_t> judged_out;  // by address: judged pairs from it
  std::vector<std::uint64_t> judged_in;
  // By label and value: the judged pairs with both ends in the group.
  std::vector<std::vector<std::uint64_t>> judged_within;
  std::vector<BadPair> bad;
  // Pairs that are ok although their newest window is beyond a threshold. The next windows may make
  // them bad, and then a larger culprit may be at fault.
  std::vector<BadPair> unsettled;
};

// A culprit that explains bad pairs of one probe.
struct Suspect {
  Culprit culprit;
  std::uint32_t probe = 0;
  std::uint64_t judged = 0;
  std::vector<BadPair> bad;
  std::vector<Culprit> candidates = {};
  std::string tell = {};
  // False while the next window may name another culprit: cover.cpp.
  bool settled = true;
};

// Leftover pairs beyond this number become one suspect.
constexpr std::size_t kMaxSinglePairs = 16;
constexpr std::size_t kMaxSuspects = 64;

std::vector<Suspect> coverProbe(const Places& places, ProbeEvidence evidence);

// The bits of BadPair::figures. kNetworkFigures accuse the network, and the others accuse a host's
// own time.
constexpr std::uint8_t figureBit(Figure figure) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(figure));
}
constexpr std::uint8_t kNetworkFigures = figureBit(Figure::kNetwork) | figureBit(Figure::kRtt) |
                                         figureBit(Figure::kJitter) | figureBit(Figure::kLoss);

}  // namespace pingloom::controller
