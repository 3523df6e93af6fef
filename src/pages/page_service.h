// The complete metric pages service of an agent: the pool, the Unix socket for applications, and
// the control channel and endpoints for collectors. It runs on its own thread with its own device;
// any thread may read its figures.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "common/time.h"
#include "pages/page_pool.h"
#include "pages/page_server.h"
#include "pages/registration_server.h"
#include "rdma/open_device.h"

namespace pingloom::pages {

struct PageServiceOptions {
  IpAddress address;  // the address whose RDMA device serves the pages
  rdma::DeviceOptions device;
  PageServerOptions server;
  RegistrationOptions registration;
  PoolLimits limits;
};

struct PageFigures {
  std::size_t pages = 0;
  std::size_t owners = 0;
  std::shared_ptr<const PageOwners> owner_list;  // replaced only when its contents change
  std::size_t readers = 0;
  std::uint64_t epoch = 0;
  RegistrationCounters registration;
  PageServerCounters server;
};

class PageService {
 public:
  static Result<std::unique_ptr<PageService>> start(const PageServiceOptions& options);
  ~PageService();  // ends the thread and closes all connections
  PageService(const PageService&) = delete;
  PageService& operator=(const PageService&) = delete;

  SocketAddress address() const { return address_; }  // the address of the control channel
  PageFigures figures() const;

 private:
  PageService() = default;
  void run();
  void makeRange(Nanos now);
  void publish();

  std::unique_ptr<rdma::Device> device_;
  std::unique_ptr<PagePool> pool_;
  std::unique_ptr<RegistrationServer> registration_;
  std::unique_ptr<PageServer> server_;
  SocketAddress address_;
  UniqueFd stop_;         // eventfd
  std::string no_range_;  // the last logged reason why there was no fresh range
  mutable std::mutex mutex_;
  PageFigures figures_;
  std::thread thread_;
};

}  // namespace pingloom::pages
