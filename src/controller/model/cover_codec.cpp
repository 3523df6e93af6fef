#include "controller/model/cover_codec.h"

#include "common/address.h"
#include "plan/plan.h"

namespace pingloom::controller {

void encode(const CoverPairs& cover, wire::RelayedCover& out) {
  out.set_probe(cover.probe);
  out.set_inputs(cover.inputs);
  for (const auto& [source, destination] : cover.pairs) {
    out.add_addresses(source.wire());
    out.add_addresses(destination.wire());
  }
}

std::optional<CoverPairs> coverOf(const wire::Relays& told) {
  // Without inputs it would pass for a sample that is in force here.
  if (told.cover().inputs().empty()) return std::nullopt;
  const auto& addresses = told.cover().addresses();
  CoverPairs made{told.cover().probe(), {}, told.cover().inputs()};
  for (int i = 0; i + 1 < addresses.size(); i += 2) {
    if (made.pairs.size() == plan::kMaxExtraPairs) break;
    const auto source = IpAddress::fromWire(addresses[i]);
    const auto destination = IpAddress::fromWire(addresses[i + 1]);
    if (!source || !destination || source->isV4() != destination->isV4()) continue;
    made.pairs.emplace_back(*source, *destination);
  }
  return made;
}

}  // namespace pingloom::controller
