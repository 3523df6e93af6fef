#include "controller/model/collector_codec.h"

#include <algorithm>

#include "common/utf8.h"

namespace pingloom::controller {

void encode(const CollectorRegistrations& own, Nanos now_mono, wire::Relays& out) {
  for (const CollectorRegistration& each : own) {
    const Nanos silent = std::max<Nanos>(now_mono - each.heard_mono, 0);
    if (silent > CollectorRegistration::kForget) continue;
    wire::RelayedCollector& to = *out.add_collectors();
    to.set_name(each.name);
    to.set_url(each.url);
    to.set_trusted(each.trusted);
    to.set_silent_ns(static_cast<std::uint64_t>(silent));
  }
}

CollectorRegistrations collectorsOf(const wire::Relays& told, Nanos now_mono) {
  CollectorRegistrations made;
  for (const wire::RelayedCollector& each : told.collectors()) {
    if (made.size() == CollectorRoster::kMax) break;
    const bool named = !each.name().empty() &&
                       each.name().size() <= CollectorRegistration::kMaxName &&
                       !hasControls(each.name());
    const bool placed = !each.url().empty() && each.url().size() <= CollectorRegistration::kMaxUrl;
    const bool recent =
        each.silent_ns() <= static_cast<std::uint64_t>(CollectorRegistration::kForget);
    if (!named || !placed || !recent) continue;
    made.push_back(
        {each.name(), each.url(), each.trusted(), now_mono - static_cast<Nanos>(each.silent_ns())});
  }
  return made;
}

}  // namespace pingloom::controller
