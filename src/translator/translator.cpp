#include "translator/translator.h"

#include <google/protobuf/stubs/logging.h>
#include <poll.h>

#include <utility>

#include "common/log.h"
#include "common/time.h"
#include "translator/metrics.h"

namespace pingloom::translator {
namespace {

// Says what a strict or an open configuration means, where nobody would notice it otherwise.
void warnAboutReporters(const Config& config) {
  if (config.reporters.empty() && !config.listen.address.isLoopback()) {
    log::warning("reports from other hosts are refused, because there are no 'reporters'");
  }
  std::size_t open = 0;
  for (const ReporterSpec& spec : config.reporters) {
    if (!spec.key && !spec.addresses.onlyLoopback()) ++open;
  }
  if (open == 0) return;
  log::warning(
      "{} reporters on other hosts have no key: anybody who can send packets with their addresses "
      "can report in their place",
      open);
}

}  // namespace

Result<std::unique_ptr<Translator>> Translator::start(const Config& config) {
  // A malformed answer of a collector is reported as any other failure.
  google::protobuf::SetLogHandler(nullptr);
  std::unique_ptr<Translator> made(new Translator());
  auto threads = IngestGroup::start(config);
  if (!threads) return tl::unexpected(threads.error());
  made->threads_ = std::move(*threads);
  auto access = http::openAccess(config.http_access);
  if (!access) return tl::unexpected(access.error());
  made->access_ = std::move(*access);
  http::ServerOptions options;
  options.listen = config.http;
  options.access = made->access_;
  options.needs = [](const http::Request& request) {
    return request.path == "/healthz" ? http::Role::kNone : http::usualNeeds(request);
  };
  auto http =
      http::Server::start(options, [ingest = made->threads_.get()](const http::Request& request) {
        return answer(ingest->counters(), ingest->losses(), request);
      });
  if (!http) return tl::unexpected(http.error());
  made->http_ = std::move(*http);
  http::warnWhereOpen(made->http_->address(), made->access_.get(), "see this translator's metrics");
  warnAboutReporters(config);
  log::info("reports at udp {}, device {}; metrics at {}/metrics", made->threads_->listens().text(),
            made->threads_->device().name, made->url());
  return made;
}

std::string Translator::url() const {
  return (access_ != nullptr && access_->encrypts() ? "https://" : "http://") +
         http_->address().text();
}

ServiceManager::Asked Translator::run(ServiceManager& manager) {
  for (;;) {
    manager.tell(true, threads_->counters().connected ? "writing" : "waiting for the collector");
    pollfd ready{manager.descriptor(), POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(kSecond / kMillisecond)) <= 0) continue;
    const ServiceManager::Asked asked = manager.asked();
    if (asked != ServiceManager::Asked::kNothing) return asked;
  }
}

void Translator::reload(const Config& config) {
  http::reloadAccess(access_.get());
  warnAboutReporters(config);
  threads_->setReporters(config.reporters);
}

}  // namespace pingloom::translator
