#include "controller/control/homes.h"

#include <algorithm>

#include "wire/rendezvous.h"

namespace pingloom::controller {
namespace {

bool sameMembers(const ClusterStatus& a, const ClusterStatus& b) {
  const bool here = (a.session != 0) == (b.session != 0);
  return here && std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
                            [](const ClusterMember& one, const ClusterMember& other) {
                              return one.name == other.name && one.address == other.address;
                            });
}

}  // namespace

bool Homes::refresh() {
  auto now = board_.cluster();
  if (now == seen_) return false;
  const bool same = sameMembers(*seen_, *now);
  seen_ = std::move(now);
  return !same;
}

std::optional<Homes::Home> Homes::elsewhere(std::string_view host) const {
  const ClusterMember* home = nullptr;
  std::uint64_t largest = 0;
  for (const ClusterMember& member : seen_->members) {
    const bool self = member.name == seen_->name;
    if (self && seen_->session == 0) continue;
    const std::uint64_t weight = wire::homeWeight(host, member.address);
    if (home != nullptr && weight <= largest) continue;
    home = &member;
    largest = weight;
  }
  if (home == nullptr || home->name == seen_->name) return std::nullopt;
  return Home{home->name, home->address};
}

}  // namespace pingloom::controller
