// The collector: reader threads over their devices, the board between, and HTTP in front of it.
// start(), run() and destruction belong to one thread.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "collector/board.h"
#include "collector/config.h"
#include "collector/discovery.h"
#include "collector/reader_thread.h"
#include "collector/watch/watcher.h"
#include "common/error.h"
#include "common/service_manager.h"
#include "http/server.h"

namespace pingloom::collector {

class Collector {
 public:
  static Result<std::unique_ptr<Collector>> start(Config config);
  // Until it is asked to stop or to reload. It is ready from the start.
  ServiceManager::Asked run(ServiceManager& manager);
  // Between two runs. The rest of the configuration stays as it was.
  void reload(const Config& config);
  static constexpr std::array<std::string_view, 3> kReloadable = {"agents", "interval",
                                                                  "log_level"};
  SocketAddress httpAddress() const { return http_->address(); }
  std::string url() const;

 private:
  explicit Collector(Config config) : config_(std::move(config)) {}
  // Those listed, and those of the controller that are not.
  void distribute();

  Config config_;
  Board board_;
  std::vector<std::unique_ptr<ReaderThread>> readers_;
  std::unique_ptr<Watcher> watcher_;      // nullptr: not configured
  std::shared_ptr<http::Access> access_;  // nullptr: not configured
  std::unique_ptr<http::Server> http_;
  std::mutex mutex_;  // found_, and of config_ what reload() changes
  std::vector<FoundAgent> found_;
  std::unique_ptr<Discovery> discovery_;  // the last: it calls distribute()
};

}  // namespace pingloom::collector
