#include "collector/collector.h"

#include <google/protobuf/stubs/logging.h>
#include <poll.h>

#include <algorithm>
#include <functional>

#include "collector/http_api.h"
#include "common/fd.h"
#include "common/log.h"

namespace pingloom::collector {

Result<std::unique_ptr<Collector>> Collector::start(Config config) {
  if (auto loaded = loadKeys(config); !loaded) return tl::unexpected(loaded.error());
  raiseDescriptorLimit();
  // a malformed answer of an agent is counted and not logged
  google::protobuf::SetLogHandler(nullptr);
  std::unique_ptr<Collector> made(new Collector(std::move(config)));
  const Config& settings = made->config_;
  for (const IpAddress& address : settings.addresses) {
    const auto own = settings.keys ? settings.keys->own : std::nullopt;
    auto reader = ReaderThread::start(address, settings.device, settings.name, made->board_, own);
    if (!reader) return tl::unexpected(reader.error());
    made->readers_.push_back(std::move(*reader));
  }
  if (settings.analytics) {
    made->watcher_ = std::make_unique<Watcher>(made->board_, *settings.analytics);
  }
  auto access = http::openAccess(settings.http_access);
  if (!access) return tl::unexpected(access.error());
  made->access_ = std::move(*access);
  http::ServerOptions options;
  options.listen = settings.http;
  options.access = made->access_;
  options.needs = [](const http::Request& request) {
    return request.path == "/healthz" ? http::Role::kNone : http::usualNeeds(request);
  };
  auto http = http::Server::start(
      options, [self = made.get(), counters = options.counters](const http::Request& request) {
        return answer(self->board_, self->watcher_.get(), *counters, request);
      });
  if (!http) return tl::unexpected(http.error());
  made->http_ = std::move(*http);
  http::warnWhereOpen(made->httpAddress(), made->access_.get(), "see all metric pages");
  made->distribute();
  if (!settings.controller.empty()) {
    made->discovery_ = std::make_unique<Discovery>(
        http::Site{settings.controller, "", settings.controller_ca}, settings.controller_token,
        [self = made.get()](const std::vector<FoundAgent>& found) {
          const std::lock_guard lock(self->mutex_);
          self->found_ = found;
          self->distribute();
        });
  }
  log::info("reading with {} threads, device {}; metrics at {}/metrics", made->readers_.size(),
            made->readers_.front()->device().name, made->url());
  return made;
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
  std::vector<std::vector<AgentSpec>> shares(readers_.size());
  for (AgentSpec& agent : agents) {
    // The share depends on the name only, so that an agent stays on its thread when others come and
    // go.
    const std::size_t share = std::hash<std::string>{}(agent.agent) % shares.size();
    shares[share].push_back(std::move(agent));
  }
  for (std::size_t i = 0; i < readers_.size(); ++i) readers_[i]->set(std::move(shares[i]));
  log::info("{} agents to read", agents.size());
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
  if ((watcher_ != nullptr) != config.analytics.has_value()) {
    log::warning("to add or remove 'analytics' needs a restart");
  } else if (watcher_ != nullptr) {
    watcher_->reload(*config.analytics);
  }
  const std::lock_guard lock(mutex_);
  config_.agents = config.agents;
  config_.interval = config.interval;
  distribute();
}

}  // namespace pingloom::collector
