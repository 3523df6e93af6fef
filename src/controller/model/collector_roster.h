// The registrations of collectors, as the controllers of a history tell them to each other
// (docs/scale.md).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "common/time.h"

namespace pingloom::controller {

struct CollectorRegistration {
  static constexpr std::size_t kMaxName = 253;  // bytes
  static constexpr std::size_t kMaxUrl = 64;    // bytes: https://[IPv6]:PORT is shorter
  // How long a registration is remembered.
  static constexpr Nanos kForget = 10 * kMinute;

  std::string name;
  std::string url;       // where it is asked: http[s]://ADDRESS:PORT
  bool trusted = false;  // it has proved who it is by a token
  Nanos heard_mono = 0;  // when it registered the last time
};

using CollectorRegistrations = std::vector<CollectorRegistration>;

// What another controller has told. The registrations are those that it holds itself, so nothing is
// told on.
struct ToldCollectors {
  CollectorRegistrations list;
  bool same_machine = false;  // so that a loopback address means the same there and here
};

// Passes registrations between the control thread, which exchanges them with other controllers, and
// the HTTP thread, which takes them from collectors. Any thread. Bounds: kMax registrations of each
// controller, and kMaxControllers that have told something which nobody has taken yet.
class CollectorRoster {
 public:
  static constexpr std::size_t kMax = 32;
  static constexpr std::size_t kMaxControllers = 64;

  // Replaces those that have registered here.
  void publish(CollectorRegistrations own);
  CollectorRegistrations own() const;

  // Replaces what this controller has told and nobody has taken.
  void tell(const std::string& controller, ToldCollectors told);
  std::map<std::string, ToldCollectors> take();  // by controller
  // `wake` is called when there is something to take. It must not block or call the roster.
  void wakeBy(std::function<void()> wake);

 private:
  mutable std::mutex mutex_;  // guards the members below
  CollectorRegistrations own_;
  std::map<std::string, ToldCollectors> told_;
  std::function<void()> wake_;
};

}  // namespace pingloom::controller
