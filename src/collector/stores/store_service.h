// The stores of a collector: their files, the server for translators on a thread of its own with
// its own device, and views of the stores for queries. Any thread may ask for what is shown.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "collector/stores/store_config.h"
#include "collector/stores/store_document.h"
#include "collector/stores/store_server.h"
#include "collector/stores/tail_waiter.h"
#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "net/curve_key.h"
#include "rdma/device.h"
#include "store/store_view.h"

namespace pingloom::collector {

// A store as queries see it.
struct ShownStore {
  std::string translator;
  store::StoreView view;
  std::vector<WatchedKey> watched;
};

class StoreService {
 public:
  // Makes or opens the files and listens. `own` is the collector's key pair; nullopt stands for
  // plaintext.
  static Result<std::unique_ptr<StoreService>> start(const StoreSpecs& specs, SocketAddress listen,
                                                     std::shared_ptr<rdma::Device> device,
                                                     const std::optional<net::CurvePair>& own);
  ~StoreService();  // ends the thread and closes all connections; the files stay
  StoreService(const StoreService&) = delete;
  StoreService& operator=(const StoreService&) = delete;

  // Applies the keys of a new configuration within kFiguresInterval, as StoreServer::permit() does.
  // Logs what takes effect at the next start only.
  void reload(StoreSpecs specs);

  SocketAddress address() const { return address_; }
  // In the order of the configuration; they do not change.
  const std::vector<ShownStore>& stores() const { return stores_; }
  const std::vector<NamedView>& views() const { return views_; }  // the same, for queries
  // Those who wait for entries of lists. stop() has to be called before the HTTP server ends.
  TailWaiter& tails() { return *tails_; }
  // Whether each of stores() has a translator, at most kFiguresInterval ago.
  std::vector<bool> connections() const;
  StoreCounters counters() const;
  static constexpr Nanos kFiguresInterval = 100 * kMillisecond;

 private:
  explicit StoreService(std::shared_ptr<rdma::Device> device) : device_(std::move(device)) {}
  Status openStores(const StoreSpecs& specs, std::vector<KeptStore>& kept);
  void run();
  void publish();
  void takeReload();

  const std::shared_ptr<rdma::Device> device_;
  StoreSpecs specs_;  // as they were at the start
  std::vector<ShownStore> stores_;
  std::vector<NamedView> views_;
  std::unique_ptr<TailWaiter> tails_;
  std::unique_ptr<StoreServer> server_;
  SocketAddress address_;
  UniqueFd stop_;  // an eventfd
  mutable std::mutex mutex_;
  std::vector<bool> connections_;  // these three are guarded by the mutex
  StoreCounters counters_;
  std::optional<StoreSpecs> next_specs_;
  std::thread thread_;
};

}  // namespace pingloom::collector
