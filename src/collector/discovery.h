// Discovers agents through the controller, and registers there. Its thread requests the hosts every
// kInterval and reports when the set of agents with metric pages changes. While the controller
// cannot be reached, the set stays unchanged. Each registration is also the heartbeat by which the
// controller sees that the collector is there.
#pragma once

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
  Discovery(http::Site controller, std::filesystem::path token_file, Self self, Found found);
  ~Discovery();
  Discovery(const Discovery&) = delete;
  Discovery& operator=(const Discovery&) = delete;

 private:
  void run();
  std::vector<FoundAgent> withRecent(const std::vector<FoundAgent>& agents);

  Result<http::Site> site() const;
  Result<std::vector<FoundAgent>> ask() const;
  Status announce() const;

  const http::Site controller_;
  const std::filesystem::path token_file_;
  const Self self_;
  const Found found_;
  struct Listed {
    Nanos when = 0;  // when it was last listed
    std::optional<net::CurveKey> key;
  };
  std::map<std::string, Listed> listed_;  // owned by the thread
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

// Returns the agents with pages in a controller's answer to /api/v1/hosts, at most `most`.
Result<std::vector<FoundAgent>> agentsOf(std::string_view hosts_json, std::size_t most);

}  // namespace pingloom::collector
