// Finds agents through the controller: asks for its hosts every kInterval on a thread of its own,
// and says when others than before serve metric pages. While the controller cannot be asked, the
// agents stay as they were.
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
  static constexpr Nanos kForget = 10 * kMinute;  // agents that the controller lists no more
  // Ascending. On the thread of the discovery.
  using Found = std::function<void(const std::vector<FoundAgent>&)>;

  // The file of the controller's token is read for each question; empty: it wants none.
  Discovery(http::Site controller, std::filesystem::path token_file, Found found);
  ~Discovery();
  Discovery(const Discovery&) = delete;
  Discovery& operator=(const Discovery&) = delete;

 private:
  void run();
  std::vector<FoundAgent> withRecent(const std::vector<FoundAgent>& agents);

  Result<std::vector<FoundAgent>> ask() const;

  const http::Site controller_;
  const std::filesystem::path token_file_;
  const Found found_;
  struct Listed {
    Nanos when = 0;  // last
    std::optional<net::CurveKey> key;
  };
  std::map<std::string, Listed> listed_;  // the thread's
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

// Those that serve pages, of a controller's answer to /api/v1/hosts. At most `most`.
Result<std::vector<FoundAgent>> agentsOf(std::string_view hosts_json, std::size_t most);

}  // namespace pingloom::collector
