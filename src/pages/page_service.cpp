#include "pages/page_service.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "common/log.h"
#include "common/time.h"

namespace pingloom::pages {
namespace {

constexpr Nanos kFiguresInterval = kSecond;

int millisUntil(Nanos wake, Nanos now) {
  if (wake <= now) return 0;
  return static_cast<int>(std::min(wake - now, kFiguresInterval) / kMillisecond) + 1;
}

}  // namespace

Result<std::unique_ptr<PageService>> PageService::start(const PageServiceOptions& options) {
  std::unique_ptr<PageService> made(new PageService);
  // The service needs a descriptor for every free page and two for every application.
  raiseDescriptorLimit();
  auto device = rdma::openDevice(options.address, options.device);
  if (!device) return tl::unexpected(device.error());
  made->device_ = std::move(*device);
  auto pool = PagePool::create(*made->device_, options.server.incarnation, options.limits);
  if (!pool) return tl::unexpected(pool.error());
  made->pool_ = std::move(*pool);
  auto registration = RegistrationServer::create(options.registration, *made->pool_);
  if (!registration) return tl::unexpected(registration.error());
  made->registration_ = std::move(*registration);
  auto server = PageServer::create(options.server, *made->device_, *made->pool_);
  if (!server) return tl::unexpected(server.error());
  made->server_ = std::move(*server);
  made->address_ = made->server_->address();
  made->stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made->stop_.valid()) return makeErrnoError("metric pages", "no eventfd", errno);
  made->publish();
  made->thread_ = std::thread([service = made.get()] { service->run(); });
  log::info("metric pages: applications at {}, collectors at {}, device {}",
            options.registration.socket.string(), made->address_.text(),
            made->device_->info().name);
  return made;
}

PageService::~PageService() {
  if (!thread_.joinable()) return;
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

PageFigures PageService::figures() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

void PageService::publish() {
  auto owners = pool_->owners();
  const std::lock_guard lock(mutex_);
  auto list = std::move(figures_.owner_list);
  if (list == nullptr || *list != owners) {
    list = std::make_shared<const PageOwners>(std::move(owners));
  }
  figures_ = {
      pool_->livePages(), registration_->connections(), std::move(list),    server_->readers(),
      pool_->epoch(),     registration_->counters(),    server_->counters()};
}

void PageService::makeRange(Nanos now) {
  const bool due = now >= pool_->nextWake();
  const Status made = pool_->work(now);
  const std::string why = made ? "" : made.error().text();
  // It is retried ten times a second, so each reason is logged once.
  if (!why.empty() && why != no_range_) log::warning("metric pages: no fresh range: {}", why);
  if (due) no_range_ = why;
}

void PageService::run() {
  pthread_setname_np(pthread_self(), "pages");
  constexpr std::size_t kStop = 0;  // the first entry
  std::vector<pollfd> ready;
  Nanos publish_due = 0;
  for (;;) {
    Nanos now = monotonicNow();
    ready.assign({{stop_.get(), POLLIN, 0}, {registration_->descriptor(), POLLIN, 0}});
    for (const int descriptor : server_->descriptors()) ready.push_back({descriptor, POLLIN, 0});
    const Nanos wake =
        std::min({publish_due, pool_->nextWake(), registration_->nextWake(), server_->nextWake()});
    poll(ready.data(), ready.size(), millisUntil(wake, now));
    if (ready[kStop].revents != 0) return;
    now = monotonicNow();
    registration_->work(now);
    makeRange(now);
    server_->work(now);
    if (now < publish_due) continue;
    publish();
    publish_due = now + kFiguresInterval;
  }
}

}  // namespace pingloom::pages
