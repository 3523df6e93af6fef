// Signed-in browsers: a random id, of which only the hash is kept, stands for a token. Time is
// passed in; one thread at a time.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/time.h"
#include "http/role.h"

namespace pingloom::http {

class Sessions {
 public:
  static constexpr std::size_t kMax = 1024;         // beyond it the oldest ends
  static constexpr std::size_t kMaxPerToken = 256;  // beyond it the oldest of this token ends
  static constexpr Nanos kMaxAge = 12 * kHour;      // however much it is used

  // The new session's id.
  std::string open(const Digest& token, Nanos now_mono);
  // Of which token it is; nullopt: there is none of this id, or not any more.
  std::optional<Digest> tokenOf(const Digest& session, Nanos now_mono);
  void end(const Digest& session) { sessions_.erase(session); }
  // Those of tokens of which `gone` is true.
  template <typename Gone>
  void endIf(Gone gone) {
    std::erase_if(sessions_, [&](const auto& entry) { return gone(entry.second.token); });
  }
  std::size_t size() const { return sessions_.size(); }

 private:
  struct Session {
    Digest token;
    Nanos opened_mono;
  };
  template <typename Which>
  void endOldest(Which which);

  std::map<Digest, Session> sessions_;  // by the hash of the id: an order that tells nobody the id
};

}  // namespace pingloom::http
