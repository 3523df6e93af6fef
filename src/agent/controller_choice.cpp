#include "agent/controller_choice.h"

#include <algorithm>
#include <utility>

#include "wire/rendezvous.h"

namespace pingloom::agent {

ControllerChoice::ControllerChoice(std::string host, std::vector<std::string> controllers)
    : host_(std::move(host)), ranked_(std::move(controllers)) {
  std::sort(ranked_.begin(), ranked_.end(), [this](const std::string& a, const std::string& b) {
    return wire::homeWeight(host_, a) > wire::homeWeight(host_, b);
  });
}

bool ControllerChoice::hasOnly(std::vector<std::string> controllers) const {
  auto known = ranked_;
  std::sort(known.begin(), known.end());
  std::sort(controllers.begin(), controllers.end());
  return known == controllers;
}

void ControllerChoice::follow(std::string controller) {
  ++redirects_;
  // If it cannot be reached, the one that sent the agent there is asked again.
  redirect_ = std::move(controller);
}

void ControllerChoice::failed() {
  if (!redirect_.empty()) {
    redirect_.clear();
    return;
  }
  at_ = (at_ + 1) % ranked_.size();
  ++failures_;
}

Nanos ControllerChoice::patience() {
  const std::uint64_t random = wire::homeWeight(host_, std::to_string(++attempts_));
  const Nanos first = kPatience + static_cast<Nanos>(random % static_cast<std::uint64_t>(kSpread));
  const std::size_t rounds = failures_ / ranked_.size();
  return first << std::min(rounds, kMaxDoublings);
}

}  // namespace pingloom::agent
