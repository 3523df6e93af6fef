// The sessions of signed-in browsers: a random id stands for a token, and only the id's hash is
// kept. Time is passed in; one thread at a time.
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
  static constexpr Nanos kMaxAge = 12 * kHour;      // use does not prolong a session

  // Returns the new session's id.
  std::string open(const Digest& token, Nanos now_mono);
  // Returns the session's token; nullopt where no session has this id, or the session has ended.
  std::optional<Digest> tokenOf(const Digest& session, Nanos now_mono);
  void end(const Digest& session) { sessions_.erase(session); }
  // Ends the sessions of all tokens for which `gone` is true.
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

  std::map<Digest, Session> sessions_;  // by the id's hash, so that timing does not reveal an id
};

}  // namespace pingloom::http
