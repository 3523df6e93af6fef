// The pages' part of an agent, on a soft device of its own, without threads: pool and control
// channel. The test says what time it is. And an application's page, written by hand.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>

#include "common/random.h"
#include "pages/memfd_page.h"
#include "pages/page_pool.h"
#include "pages/page_server.h"
#include "raw_metric.h"
#include "rdma/soft/soft_device.h"

namespace pingloom::pages::test {

// Tests run side by side, and each device takes port 4791 of its address.
inline IpAddress freshAddress() {
  return IpAddress::fromV4(0x7F020000 + static_cast<std::uint32_t>(randomU64() % 0xFCFFFF));
}
inline std::unique_ptr<rdma::Device> freshDevice() {
  auto opened = rdma::soft::openSoftDevice(freshAddress());
  EXPECT_TRUE(opened) << opened.error().text();
  return std::move(*opened);
}

struct Agent {
  explicit Agent(const PoolLimits& limits = {}, const std::string& host = "host-a",
                 std::uint16_t port = 0, std::uint64_t incarnation = 7,
                 std::unique_ptr<rdma::Device> on = freshDevice())
      : device(std::move(on)) {
    pool = std::move(*PagePool::create(*device, incarnation, limits));
    PageServerOptions options;
    options.listen = {IpAddress::fromV4(0x7F000001), port};
    options.host = host;
    options.incarnation = incarnation;
    server = std::move(*PageServer::create(options, *device, *pool));
  }
  std::string address() const { return server->address().text(); }
  void work(Nanos now) {
    EXPECT_TRUE(pool->work(now));
    server->work(now);
  }

  std::unique_ptr<rdma::Device> device;
  std::unique_ptr<PagePool> pool;
  std::unique_ptr<PageServer> server;
};

inline Owner ownerOf(const std::string& application, std::uint32_t user = 1000,
                     std::uint32_t process = 1) {
  Owner owner;
  owner.application = application;
  owner.user = user;
  owner.process = process;
  return owner;
}

// A page as its owner sees it.
class Application {
 public:
  explicit Application(PagePool& pool, const std::string& name = "app", std::uint16_t flags = 0,
                       std::uint32_t process = 1)
      : pool_(pool) {
    owner_ = pool.addOwner(ownerOf(name, 1000, process));
    auto grant = pool.grant(owner_, flags);
    EXPECT_TRUE(grant) << grant.error().text;
    generation_ = grant->generation;
    page_ = static_cast<pingloom_page*>(mmap(nullptr, PINGLOOM_PAGE_BYTES, PROT_READ | PROT_WRITE,
                                             MAP_SHARED, grant->memfd.get(), 0));
    EXPECT_NE(page_, MAP_FAILED);
    page_->header.version = PINGLOOM_PAGE_VERSION;
    page_->header.flags = flags;
    page_->header.generation = generation_;
    page_->header.owner = owner_->id;
    page_->header.magic = PINGLOOM_PAGE_MAGIC;
  }
  ~Application() { munmap(page_, PINGLOOM_PAGE_BYTES); }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  void define(const RawMetric& metric, Nanos now = monotonicNow()) {
    const auto defined = pool_.define(generation_, metric.bytes(), now);
    ASSERT_TRUE(defined) << defined.error().text;
    page_->header.slots = std::max<std::uint32_t>(page_->header.slots, metric.first + metric.slots);
  }
  void remove(const RawMetric& metric) {
    const auto removed = pool_.remove(generation_, metric.bytes(), monotonicNow());
    ASSERT_TRUE(removed) << removed.error().text;
  }
  void leave() { pool_.release(generation_); }

  pingloom_page& page() { return *page_; }
  std::uint64_t generation() const { return generation_; }
  const std::shared_ptr<const Owner>& owner() const { return owner_; }

 private:
  PagePool& pool_;
  std::shared_ptr<const Owner> owner_;
  std::uint64_t generation_ = 0;
  pingloom_page* page_ = nullptr;
};

}  // namespace pingloom::pages::test
