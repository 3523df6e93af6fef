#include "collector/stores/store_service.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "common/log.h"
#include "common/time.h"

namespace pingloom::collector {

Result<std::unique_ptr<StoreService>> StoreService::start(
    const StoreSpecs& specs, SocketAddress listen, std::shared_ptr<rdma::Device> device,
    const std::optional<net::CurvePair>& own) {
  std::unique_ptr<StoreService> made(new StoreService(std::move(device)));
  made->specs_ = specs;
  std::vector<KeptStore> kept;
  if (auto opened = made->openStores(specs, kept); !opened) return tl::unexpected(opened.error());
  StoreServerOptions options;
  options.listen = listen;
  if (own) {
    options.gate = std::make_shared<net::PeerGate>(*own, "stores");
  }
  auto server = StoreServer::create(options, *made->device_, std::move(kept));
  if (!server) return tl::unexpected(server.error());
  made->server_ = std::move(*server);
  made->address_ = made->server_->address();
  made->stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!made->stop_.valid()) return makeErrnoError("stores", "no eventfd", errno);
  made->publish();
  for (const ShownStore& one : made->stores_) made->views_.push_back({one.translator, &one.view});
  made->tails_ = std::make_unique<TailWaiter>(made->views_);
  made->thread_ = std::thread([service = made.get()] { service->run(); });
  log::info("{} stores; translators connect to {}, device {}", made->stores_.size(),
            made->address_.text(), made->device_->info().name);
  return made;
}

Status StoreService::openStores(const StoreSpecs& specs, std::vector<KeptStore>& kept) {
  for (const StoreSpec& spec : specs) {
    auto file = store::StoreFile::open(spec.file, spec.tables, utcNow());
    if (!file) return tl::unexpected(file.error());
    auto view = store::StoreView::open(spec.file);
    if (!view) return tl::unexpected(view.error());
    log::info("store of {}: {} {}, epoch {}", spec.translator,
              (*file)->wasThere() ? "opened" : "made", spec.file.string(), (*file)->head().epoch);
    stores_.push_back({spec.translator, std::move(*view), spec.watched});
    kept.push_back({spec, std::move(*file)});
  }
  return {};
}

StoreService::~StoreService() {
  if (!thread_.joinable()) return;
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

std::vector<bool> StoreService::connections() const {
  const std::lock_guard lock(mutex_);
  return connections_;
}

StoreCounters StoreService::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

void StoreService::publish() {
  const std::lock_guard lock(mutex_);
  counters_ = server_->counters();
  connections_.clear();
  for (const ShownStore& shown : stores_) {
    connections_.push_back(server_->connected(shown.translator));
  }
}

void StoreService::reload(StoreSpecs specs) {
  for (const StoreSpec& spec : specs) {
    const auto before = std::find_if(specs_.begin(), specs_.end(), [&](const StoreSpec& one) {
      return one.translator == spec.translator;
    });
    const bool same =
        before != specs_.end() && before->file == spec.file && before->tables == spec.tables;
    if (same) continue;
    log::warning("store of {}: {} at the next start", spec.translator,
                 before == specs_.end() ? "it is made" : "its file or its tables change");
  }
  const std::lock_guard lock(mutex_);
  next_specs_ = std::move(specs);
}

void StoreService::takeReload() {
  std::optional<StoreSpecs> specs;
  {
    const std::lock_guard lock(mutex_);
    specs.swap(next_specs_);
  }
  if (specs) server_->permit(*specs);
}

void StoreService::run() {
  pthread_setname_np(pthread_self(), "stores");
  constexpr std::size_t kStop = 0;  // in `ready`
  std::vector<pollfd> ready;
  Nanos publish_due = 0;
  for (;;) {
    ready.assign({{stop_.get(), POLLIN, 0}});
    for (const int descriptor : server_->descriptors()) ready.push_back({descriptor, POLLIN, 0});
    const Nanos wake = std::min(publish_due, server_->nextWake());
    const Nanos time = std::clamp<Nanos>(wake - monotonicNow(), 0, kFiguresInterval);
    const timespec timeout{0, time};
    ppoll(ready.data(), ready.size(), &timeout, nullptr);
    if (ready[kStop].revents != 0) return;
    const Nanos now = monotonicNow();
    server_->work(now);
    if (now < publish_due) continue;
    takeReload();
    publish();
    publish_due = now + kFiguresInterval;
  }
}

}  // namespace pingloom::collector
