#include "http/sessions.h"

#include <algorithm>

#include "http/tokens.h"

namespace pingloom::http {

std::string Sessions::open(const Digest& token, Nanos now_mono) {
  std::erase_if(sessions_, [now_mono](const auto& entry) {
    return now_mono - entry.second.opened_mono >= kLongest;
  });
  if (sessions_.size() >= kMost) {
    sessions_.erase(std::min_element(
        sessions_.begin(), sessions_.end(),
        [](const auto& a, const auto& b) { return a.second.opened_mono < b.second.opened_mono; }));
  }
  std::string id = randomSecret();
  sessions_[digestOf(id)] = {token, now_mono};
  return id;
}

std::optional<Digest> Sessions::tokenOf(const Digest& session, Nanos now_mono) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return std::nullopt;
  if (now_mono - found->second.opened_mono < kLongest) return found->second.token;
  sessions_.erase(found);
  return std::nullopt;
}

}  // namespace pingloom::http
