#include "http/sessions.h"

#include <algorithm>

#include "http/tokens.h"

namespace pingloom::http {

template <typename Which>
void Sessions::endOldest(Which which) {
  auto oldest = sessions_.end();
  for (auto at = sessions_.begin(); at != sessions_.end(); ++at) {
    if (!which(at->second)) continue;
    if (oldest == sessions_.end() || at->second.opened_mono < oldest->second.opened_mono) {
      oldest = at;
    }
  }
  if (oldest != sessions_.end()) sessions_.erase(oldest);
}

std::string Sessions::open(const Digest& token, Nanos now_mono) {
  std::erase_if(sessions_, [now_mono](const auto& entry) {
    return now_mono - entry.second.opened_mono >= kMaxAge;
  });
  const auto of_token = static_cast<std::size_t>(
      std::count_if(sessions_.begin(), sessions_.end(),
                    [&](const auto& entry) { return entry.second.token == token; }));
  if (of_token >= kMaxPerToken) {
    endOldest([&](const Session& session) { return session.token == token; });
  } else if (sessions_.size() >= kMax) {
    endOldest([](const Session&) { return true; });
  }
  std::string id = randomSecret();
  sessions_[digestOf(id)] = {token, now_mono};
  return id;
}

std::optional<Digest> Sessions::tokenOf(const Digest& session, Nanos now_mono) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return std::nullopt;
  if (now_mono - found->second.opened_mono < kMaxAge) return found->second.token;
  sessions_.erase(found);
  return std::nullopt;
}

}  // namespace pingloom::http
