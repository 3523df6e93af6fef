#include "controller/verdict/tally.h"

namespace pingloom::controller {
namespace {

constexpr std::uint8_t kDestinationsTime =
    figureBit(Figure::kResponder) | figureBit(Figure::kAnomalous);
constexpr std::uint8_t kSourcesTime = figureBit(Figure::kProber) | figureBit(Figure::kAnomalous);

}  // namespace

Tally::Tally(const Places& places, const ProbeEvidence& evidence)
    : addresses_(places.addresses().size()) {
  for (const Places::Label& label : places.labels()) groups_.emplace_back(label.values.size());
  for (const BadPair& pair : evidence.bad) {
    Address& from = addresses_[pair.from];
    Address& to = addresses_[pair.to];
    ++from.any_out;
    ++to.any_in;
    if ((pair.figures & kSourcesTime) != 0) ++from.cpu_out;
    if ((pair.figures & kDestinationsTime) != 0) ++to.cpu_in;
    if ((pair.figures & kNetworkFigures) == 0) continue;
    ++from.network_out;
    ++to.network_in;
    countGroups(places, pair);
  }
}

void Tally::countGroups(const Places& places, const BadPair& pair) {
  for (std::size_t label = 0; label < groups_.size(); ++label) {
    const std::uint32_t from = places.labels()[label].of[pair.from];
    const std::uint32_t to = places.labels()[label].of[pair.to];
    if (from != Places::kNone) ++groups_[label][from].network_all;
    if (from == to) continue;
    if (to != Places::kNone) ++groups_[label][to].network_all;
    if (from != Places::kNone) ++groups_[label][from].network_crossing;
    if (to != Places::kNone) ++groups_[label][to].network_crossing;
  }
}

}  // namespace pingloom::controller
