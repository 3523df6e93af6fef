#include <malloc.h>

#include <cstdlib>
#include <iostream>

#include "common/daemon.h"
#include "common/text.h"
#include "controller/cluster/cluster_tables.h"
#include "controller/controller.h"
#include "controller/history/ledger_tables.h"
#include "controller/http/dashboard.h"

namespace {

using namespace pingloom;

constexpr daemon::About kAbout{
    "pingloom-controller",
    "Hands the pinglist to the agents, gathers their results, and shows them.",
    "config/controller.yaml"};

// Returns the URL for a browser on this machine.
std::string urlOf(SocketAddress address, bool encrypted) {
  if (address.address.isUnspecified()) {
    const std::uint8_t v6_loopback[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    address.address = address.address.isV4() ? IpAddress::fromV4(0x7f000001)
                                             : IpAddress::fromBytes16(v6_loopback);
  }
  return (encrypted ? "https://" : "http://") + address.text();
}

void announce(const controller::Config& config, const std::string& url) {
  if (config.web_root.empty()) {
    log::warning("the dashboard is not built; at {} there is the API only", url);
  } else {
    log::info("dashboard at {}", url);
  }
}

// The parts that a reload affects.
struct Service {
  static constexpr auto kReloadable = controller::Controller::kReloadable;

  ServiceManager::Asked run(ServiceManager& manager) { return running.run(manager); }
  void reload(const controller::Config& config) {
    running.reload(config);
    dashboard.reloadAccess();
  }

  controller::Controller& running;
  controller::Dashboard& dashboard;
};

int runController(const std::string& file) {
  auto config = daemon::readConfig(file, controller::parseConfig);
  if (!config) return daemon::fail(kAbout, config.error(), program::kExitUsage);
  if (const auto loaded = controller::loadKeys(*config); !loaded) {
    return daemon::fail(kAbout, loaded.error(), program::kExitUsage);
  }
  log::init(kAbout.name, config->log_levels);
  // Few threads allocate much, and they free memory of other threads; more arenas would only retain
  // it.
  mallopt(M_ARENA_MAX, 2);
  const auto manager = SystemServiceManager::start();
  if (!manager) return daemon::fail(kAbout, manager.error());
  raiseDescriptorLimit();  // each agent needs a connection
  const auto controller = controller::Controller::start(*config);
  if (!controller) return daemon::fail(kAbout, controller.error());
  const auto dashboard = controller::Dashboard::start(
      {config->http,
       config->web_root.native(),
       {},
       historyPlace(*config),
       config->http_access,
       join(config->frame_ancestors, " "),
       config->collectors,
       (*controller)->alerts()},
      (*controller)->board(), (*controller)->bursts(), (*controller)->orders());
  if (!dashboard) return daemon::fail(kAbout, dashboard.error());
  const std::string url = urlOf((*dashboard)->address(), !config->http_access.certificate.empty());
  announce(*config, url);
  const daemon::UrlFile url_file(config->url_file);
  if (auto status = url_file.write(url); !status) return daemon::fail(kAbout, status.error());
  Service service{**controller, **dashboard};
  daemon::serve(service, **manager, file, controller::parseConfig);
  return EXIT_SUCCESS;
}

// Creates the tables of a history in PostgreSQL. SQLite's are created when the controller starts.
int runInitHistory(const std::string& file) {
  const auto config = daemon::readConfig(file, controller::parseConfig);
  if (!config) return daemon::fail(kAbout, config.error(), program::kExitUsage);
  const auto place = historyPlace(*config);
  if (!place.postgres()) {
    const auto error = makeError(
        file, "has no 'history: { postgres: ... }'; a file is created when the controller starts");
    return daemon::fail(kAbout, error.value(), program::kExitUsage);
  }
  auto made = controller::initHistory(place);
  if (made) made = controller::initCluster(place);
  if (!made) return daemon::fail(kAbout, made.error());
  std::cout << place.text() << ": the tables of a history are there\n";
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return daemon::start(
      kAbout, argc, argv, runController,
      {{"init-history", "create the tables in the PostgreSQL database of 'history:', and exit",
        runInitHistory}});
}
