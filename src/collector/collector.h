// The collector: reader threads with their devices, the board, the stores, and HTTP. start(), run()
// and the destructor belong to one thread.
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
#include "collector/push/push_service.h"
#include "collector/reader_shares.h"
#include "collector/reader_thread.h"
#include "collector/stores/store_service.h"
#include "collector/watch/watcher.h"
#include "common/error.h"
#include "common/fd.h"
#include "common/service_manager.h"
#include "http/server.h"

namespace pingloom::collector {

class Collector {
 public:
  static Result<std::unique_ptr<Collector>> start(Config config);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  // Runs until it is asked to stop or to reload. The collector is ready from the start.
  ServiceManager::Asked run(ServiceManager& manager);
  // Applies a configuration between two runs; settings that cannot be reloaded stay unchanged.
  void reload(const Config& config);
  static constexpr std::array<std::string_view, 7> kReloadable = {
      "agents", "interval", "stores", "log_level", "log", "analytics", "push"};
  SocketAddress httpAddress() const { return http_->address(); }
  std::string url() const;

 private:
  explicit Collector(Config config)
      : config_(std::move(config)), shares_(config_.addresses.size() * config_.readers) {}
  Status startWatcher();
  // Opens the devices and starts their readers, and the stores if there are any.
  Status startReaders();
  Status startHttp();
  // Distributes the configured agents and the controller's other agents over the threads.
  void distribute();

  Config config_;
  Board board_;
  std::vector<std::unique_ptr<ReaderThread>> readers_;
  std::unique_ptr<StoreService> stores_;  // nullptr if not configured
  UniqueFd state_lock_;                   // of the state directory
  std::unique_ptr<Watcher> watcher_;      // nullptr if not configured
  std::shared_ptr<http::Access> access_;  // nullptr if not configured
  std::unique_ptr<PushService> push_;     // it shows what HTTP shows
  std::unique_ptr<http::Server> http_;
  std::mutex mutex_;  // guards found_, shares_ and what reload() changes in config_
  std::vector<FoundAgent> found_;
  ReaderShares shares_;
  std::unique_ptr<Discovery> discovery_;  // it calls distribute()
};

}  // namespace pingloom::collector
