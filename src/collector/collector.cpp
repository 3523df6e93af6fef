#include "collector/collector.h"

#include <google/protobuf/stubs/logging.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "collector/http_router.h"
#include "collector/metrics_answer.h"
#include "common/fd.h"
#include "common/file.h"
#include "common/log.h"

namespace pingloom::collector {

Result<std::unique_ptr<Collector>> Collector::start(Config config) {
  if (auto loaded = loadKeys(config); !loaded) return tl::unexpected(loaded.error());
  raiseDescriptorLimit();
  // a malformed answer of an agent is counted and not logged
  google::protobuf::SetLogHandler(nullptr);
  std::unique_ptr<Collector> made(new Collector(std::move(config)));
  const Config& settings = made->config_;
  if (auto started = made->startReaders(); !started) return tl::unexpected(started.error());
  if (settings.analytics) {
    if (auto started = made->startWatcher(); !started) return tl::unexpected(started.error());
  }
  if (auto started = made->startHttp(); !started) return tl::unexpected(started.error());
  made->distribute();
  made->push_->reload(settings.push);
  if (!settings.controllers.empty()) {
    std::vector<http::Site> controllers;
    for (const std::string& url : settings.controllers) {
      controllers.push_back({url, "", settings.controller_ca});
    }
    made->discovery_ = std::make_unique<Discovery>(
        std::move(controllers), settings.controller_token,
        Discovery::Self{settings.name,
                        settings.advertise.empty() ? made->url() : settings.advertise},
        [self = made.get()](const std::vector<FoundAgent>& found) {
          const std::lock_guard lock(self->mutex_);
          self->found_ = found;
          self->distribute();
        });
  }
  log::info("reading with {} readers, device {}; metrics at {}/metrics", made->readers_.size(),
            made->readers_.front()->device().name, made->url());
  return made;
}

// No device closes while another reader of its address reads.
Collector::~Collector() {
  discovery_.reset();
  if (push_ != nullptr) push_->end();
  for (const auto& reader : readers_) reader->stop();
  if (stores_ != nullptr) stores_->tails().stop();
  http_.reset();  // it shows the stores
  stores_.reset();
}

// Two collectors with one directory would overwrite what the other one has learned.
Status Collector::startWatcher() {
  const std::filesystem::path& dir = config_.state_dir;
  if (!dir.empty()) {
    const auto refuse = [](Error error) {
      error.reason +=
          "; analytics keep what they have learned in 'state_dir': make it writable for this user, "
          "configure another, or leave it out";
      return tl::unexpected<Error>(std::move(error));
    };
    if (auto made = makeDirectories(dir); !made) return refuse(made.error());
    auto locked = lockFile(dir / "lock");
    if (!locked) return refuse(locked.error());
    if (!locked->valid()) {
      return makeError(dir.native(), "another collector is using this state_dir");
    }
    state_lock_ = std::move(*locked);
  }
  watcher_ =
      std::make_unique<Watcher>(board_, *config_.analytics, dir.empty() ? dir : dir / "analytics");
  return {};
}

Status Collector::startReaders() {
  const auto own = config_.keys ? config_.keys->own : std::nullopt;
  for (const IpAddress& address : config_.addresses) {
    // The stores are written through a device of their own at the first address.
    const bool stores = !config_.stores.empty() && stores_ == nullptr;
    auto devices = rdma::openDevices(address, config_.readers + (stores ? 1 : 0), config_.device);
    if (!devices) return tl::unexpected(devices.error());
    if (stores) {
      auto started = StoreService::start(config_.stores, {address, config_.stores_port},
                                         std::move(devices->back()), own);
      if (!started) return tl::unexpected(started.error());
      stores_ = std::move(*started);
      devices->pop_back();
    }
    for (std::shared_ptr<rdma::Device>& device : *devices) {
      auto reader = ReaderThread::start({readers_.size(), address, std::move(device)}, config_.name,
                                        board_, own);
      if (!reader) return tl::unexpected(reader.error());
      readers_.push_back(std::move(*reader));
    }
  }
  return {};
}

Status Collector::startHttp() {
  auto access = http::openAccess(config_.http_access);
  if (!access) return tl::unexpected(access.error());
  access_ = std::move(*access);
  auto page = http::StaticFiles::load(http::findWebRoot("web-collector"));
  if (!page) return tl::unexpected(page.error());
  http::ServerOptions options;
  options.listen = config_.http;
  options.access = access_;
  const bool has_page = page->has("/");
  push_ = std::make_unique<PushService>(
      config_.name, [this, counters = options.counters](const Exposition::MakeWriter& make_writer,
                                                        bool exact_histograms) {
        return allMetrics(
            {board_, watcher_.get(), *counters, stores_.get(), push_.get(), exact_histograms},
            make_writer);
      });
  const auto router = std::make_shared<const HttpRouter>(
      HttpSources{board_, watcher_.get(), stores_.get(), push_.get(), access_, options.counters},
      std::move(*page));
  options.needs = [router](const http::Request& request) { return router->needs(request); };
  auto http = http::Server::start(
      options, [router](const http::Request& request) { return router->answer(request); });
  if (!http) return tl::unexpected(http.error());
  http_ = std::move(*http);
  http::warnWhereOpen(httpAddress(), access_.get(), "see all metric pages");
  if (stores_ == nullptr) return {};
  if (has_page) {
    log::info("the page of the stores is at {}", url());
  } else {
    log::warning("the page of the stores is not built; at {} there is the API only", url());
  }
  return {};
}

std::string Collector::url() const {
  return (access_ != nullptr && access_->encrypts() ? "https://" : "http://") +
         http_->address().text();
}

void Collector::distribute() {
  std::vector<AgentSpec> agents = config_.agents;
  for (const FoundAgent& found : found_) {
    const bool listed =
        std::any_of(config_.agents.begin(), config_.agents.end(),
                    [&](const AgentSpec& spec) { return spec.agent == found.agent; });
    if (!listed) agents.push_back({found.agent, config_.interval, found.key});
  }
  const std::size_t count = agents.size();
  auto shares = shares_.share(std::move(agents));
  for (std::size_t i = 0; i < readers_.size(); ++i) readers_[i]->set(std::move(shares[i]));
  log::info("{} agents to read", count);
}

ServiceManager::Asked Collector::run(ServiceManager& manager) {
  manager.tell(true, "reading");
  for (;;) {
    pollfd ready{manager.descriptor(), POLLIN, 0};
    if (poll(&ready, 1, -1) <= 0) continue;
    const ServiceManager::Asked asked = manager.asked();
    if (asked != ServiceManager::Asked::kNothing) return asked;
  }
}

void Collector::reload(const Config& config) {
  http::reloadAccess(access_.get());
  push_->reload(config.push);
  if ((watcher_ != nullptr) != config.analytics.has_value()) {
    log::warning("to add or remove 'analytics' needs a restart");
  } else if (watcher_ != nullptr) {
    watcher_->reload(*config.analytics);
  }
  if (stores_ != nullptr) {
    stores_->reload(config.stores);
  } else if (!config.stores.empty()) {
    log::warning("to begin with 'stores' needs a restart");
  }
  const std::lock_guard lock(mutex_);
  config_.agents = config.agents;
  config_.interval = config.interval;
  distribute();
}

}  // namespace pingloom::collector
