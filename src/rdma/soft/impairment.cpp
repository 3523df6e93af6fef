#include "rdma/soft/impairment.h"

#include <utility>

#include "common/duration.h"
#include "common/random.h"

namespace pingloom::rdma::soft {
namespace {

bool isProbability(double value) { return value >= 0 && value <= 1; }
bool isDelay(Nanos value) { return value >= 0 && value <= Impairment::kMaxDelay; }

Status checkOne(const std::string& entity, const Impairment& impairment) {
  if (!isProbability(impairment.loss) || !isProbability(impairment.duplicate)) {
    return makeError(entity, "loss and duplicate are probabilities, from 0 to 1");
  }
  if (!isDelay(impairment.delay) || !isDelay(impairment.jitter)) {
    return makeError(entity,
                     "delay and jitter are from 0 to " + formatDuration(Impairment::kMaxDelay));
  }
  return {};
}

}  // namespace

Status check(const Impairments& impairments) {
  if (auto good = checkOne("impairment", impairments.everywhere); !good) return good;
  for (const auto& [address, impairment] : impairments.towards) {
    if (auto good = checkOne("impairment to " + address.text(), impairment); !good) return good;
  }
  return {};
}

FateOfPackets::FateOfPackets(Impairments impairments)
    : impairments_(std::move(impairments)),
      none_(impairments_.everywhere.none() && impairments_.towards.empty()),
      state_(impairments_.seed != 0 ? impairments_.seed : randomU64()) {}

Fate FateOfPackets::roll(const IpAddress& destination) {
  const auto found = impairments_.towards.find(destination);
  const Impairment& here =
      found == impairments_.towards.end() ? impairments_.everywhere : found->second;
  Fate fate;
  fate.lost = happens(here.loss);
  if (fate.lost) return fate;
  fate.delayed = here.delay != 0 || here.jitter != 0;
  fate.delay = delayOf(here);
  fate.duplicated = happens(here.duplicate);
  if (fate.duplicated) fate.duplicate_delay = delayOf(here);
  return fate;
}

bool FateOfPackets::happens(double probability) {
  if (probability <= 0) return false;
  constexpr double kBelowOne = 1.0 / (1ULL << 53);
  return static_cast<double>(next() >> 11) * kBelowOne < probability;
}

Nanos FateOfPackets::delayOf(const Impairment& impairment) {
  if (impairment.jitter == 0) return impairment.delay;
  const auto range = static_cast<std::uint64_t>(impairment.jitter) + 1;
  return impairment.delay + static_cast<Nanos>(next() % range);
}

// SplitMix64: a counter with a constant increment, whose bits are mixed.
std::uint64_t FateOfPackets::next() {
  state_ += 0x9E3779B97F4A7C15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB;
  return mixed ^ mixed >> 31;
}

}  // namespace pingloom::rdma::soft
