// Discovers agents through a controller, and registers there. Its thread requests the hosts every
// kInterval and reports when the set of agents with metric pages changes. If there are several
// controllers, which share a history, it stays with one as long as that one answers, and then goes
// to the next one at once. While none of them answers, the set stays unchanged. Each registration
// is also the heartbeat by which the controller sees that the collector is there.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/backoff.h"
#include "common/error.h"
#include "common/time.h"
#include "http/client.h"
#include "net/curve_key.h"

namespace pingloom::collector {

struct FoundAgent {
  std::string agent;  // HOST:PORT of its control channel
  std::optional<net::CurveKey> key;
  auto operator<=>(const FoundAgent&) const = default;
};

class Discovery {
 public:
  static constexpr Nanos kInterval = 5 * kSecond;
  // the shortest pause after no controller has answered; it grows to the interval
  static constexpr Nanos kRetry = kSecond;
  // how long agents are kept that the controller no longer lists
  static constexpr Nanos kForget = 10 * kMinute;
  // Gets the agents in ascending order, on the thread of the discovery.
  using Found = std::function<void(const std::vector<FoundAgent>&)>;

  // What the controller is told about this collector.
  struct Self {
    std::string name;
    std::string url;  // where it is asked; an unspecified address stands for the sender's
  };

  // The token file is read for each request; an empty path stands for no token.
  // REQUIRES: there is a controller.
  Discovery(std::vector<http::Site> controllers, std::filesystem::path token_file, Self self,
            Found found, Nanos interval = kInterval);
  ~Discovery();
  Discovery(const Discovery&) = delete;
  Discovery& operator=(const Discovery&) = delete;

 private:
  struct Controller {
    http::Site site;
    // The last reasons that were logged: why it does not answer, and why it takes no registration.
    std::string silent{}, refuses{};
  };

  void run();
  // Asks the controllers, from the present one on, until one has answered.
  bool askThem();
  void take(const std::vector<FoundAgent>& agents);
  bool announceTo(Controller& controller) const;
  void announceToOne();
  std::vector<FoundAgent> withRecent(const std::vector<FoundAgent>& agents);

  Result<http::Site> siteOf(const Controller& controller) const;
  Result<std::vector<FoundAgent>> ask(const Controller& controller) const;
  Status announce(const Controller& controller) const;

  const std::filesystem::path token_file_;
  const Self self_;
  const Found found_;
  const Nanos interval_;
  // The thread owns these.
  std::vector<Controller> controllers_;
  std::size_t at_ = 0;  // the present controller
  Backoff pause_;
  std::optional<std::vector<FoundAgent>> known_;  // nullopt until a controller has answered
  struct Listed {
    Nanos when = 0;  // when it was last listed
    std::optional<net::CurveKey> key;
  };
  std::map<std::string, Listed> listed_;

  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

// Returns the agents with pages in a controller's answer to /api/v1/hosts, at most `most`.
Result<std::vector<FoundAgent>> agentsOf(std::string_view hosts_json, std::size_t most);

}  // namespace pingloom::collector
