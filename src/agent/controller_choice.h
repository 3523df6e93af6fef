// Which of several controllers an agent connects to. It begins with the one that is its home if all
// of them are there (wire/rendezvous.h), goes on to the next when one cannot be reached, and
// follows a redirect. After kMaxRedirects in a row without a registration it asks to stay where it
// is, so that controllers that do not agree cannot keep it away from all of them. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/time.h"

namespace pingloom::agent {

class ControllerChoice {
 public:
  static constexpr int kMaxRedirects = 4;
  // How long one controller is tried when there are others. The second part is spread, so that the
  // agents of a controller that ended do not come to the others at the same time.
  static constexpr Nanos kPatience = kSecond;
  static constexpr Nanos kSpread = kSecond;
  // Both double after each round in which none of them could be reached in time: when a whole fleet
  // connects at once, those that give up and begin again are what keeps it from ever being done.
  static constexpr std::size_t kMaxDoublings = 2;

  // `controllers` are HOST:PORT, at least one.
  ControllerChoice(std::string host, std::vector<std::string> controllers);

  const std::string& current() const { return redirect_.empty() ? ranked_[at_] : redirect_; }
  bool several() const { return ranked_.size() > 1 || !redirect_.empty(); }
  // Whether the list is the same, in whatever order.
  bool hasOnly(std::vector<std::string> controllers) const;

  bool mayFollow() const { return redirects_ < kMaxRedirects; }
  void follow(std::string controller);  // REQUIRES: mayFollow()
  // A redirect was declined: the agent asks to stay where it is.
  void stay() { redirects_ = kMaxRedirects; }
  void failed();
  void registered() {
    redirects_ = 0;
    failures_ = 0;
  }
  // How long the next attempt may take.
  Nanos patience();

 private:
  std::string host_;
  std::vector<std::string> ranked_;
  std::size_t at_ = 0;
  std::string redirect_;      // "" if the agent follows none
  int redirects_ = 0;         // since the last registration
  std::size_t failures_ = 0;  // of members of the list, since then
  std::uint64_t attempts_ = 0;
};

}  // namespace pingloom::agent
