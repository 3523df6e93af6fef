// An agent's metric pages, whole: pool, unix socket for applications, control channel and endpoints
// for collectors, on one thread with a device of its own. Any thread may ask for figures.
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
  IpAddress address;  // whose RDMA device serves the pages
  rdma::DeviceOptions device;
  PageServerOptions server;
  RegistrationOptions registration;
  PoolLimits limits;
};

struct PageFigures {
  std::size_t pages = 0;
  std::size_t owners = 0;
  std::shared_ptr<const PageOwners> owner_list;  // another object only when it says something else
  std::size_t readers = 0;
  std::uint64_t epoch = 0;
  RegistrationCounters registration;
  PageServerCounters server;
};

class PageService {
 public:
  static Result<std::unique_ptr<PageService>> start(const PageServiceOptions& options);
  ~PageService();  // ends the thread; applications and collectors are hung up on
  PageService(const PageService&) = delete;
  PageService& operator=(const PageService&) = delete;

  SocketAddress address() const { return address_; }  // of the control channel
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
  std::string no_range_;  // why there was no fresh one, as it was logged last
  mutable std::mutex mutex_;
  PageFigures figures_;
  std::thread thread_;
};

}  // namespace pingloom::pages
