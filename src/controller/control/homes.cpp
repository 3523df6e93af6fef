#include "controller/control/homes.h"

#include <algorithm>

#include "wire/rendezvous.h"

namespace pingloom::controller {

bool Homes::serves(const ClusterMember& member, Nanos now_mono) {
  const Service service = service_of_ ? service_of_(member) : Service::kServes;
  auto& [session, since_mono] = known_[member.name];
  if (std::exchange(session, member.session) != member.session ||
      service != Service::kUnreachable) {
    since_mono = now_mono;
  }
  return service == Service::kServes || now_mono - since_mono >= kPatience;
}

bool Homes::refresh(Nanos now_mono) {
  const auto cluster = board_.cluster();
  own_ = cluster->name;
  std::vector<Home> homes;
  for (const ClusterMember& member : cluster->members) {
    const bool takes = member.name == own_ ? cluster->session != 0 : serves(member, now_mono);
    if (takes) homes.push_back({member.name, member.address});
  }
  std::erase_if(known_, [&](const auto& known) {
    return std::none_of(cluster->members.begin(), cluster->members.end(),
                        [&](const auto& member) { return member.name == known.first; });
  });
  return std::exchange(homes_, homes) != homes;
}

std::optional<Homes::Home> Homes::elsewhere(std::string_view host) const {
  const Home* home = nullptr;
  std::uint64_t largest = 0;
  for (const Home& each : homes_) {
    const std::uint64_t weight = wire::homeWeight(host, each.address);
    if (home != nullptr && weight <= largest) continue;
    home = &each;
    largest = weight;
  }
  if (home == nullptr || home->name == own_) return std::nullopt;
  return *home;
}

}  // namespace pingloom::controller
