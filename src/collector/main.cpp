#include <cstdlib>

#include "collector/collector.h"
#include "common/daemon.h"

namespace {

constexpr pingloom::daemon::About kAbout{
    "pingloom-collector", "Reads the metric pages of agents by RDMA and serves them to Prometheus.",
    "config/collector.yaml"};

int runCollector(const std::string& file) {
  using namespace pingloom;
  auto config = daemon::readConfig(file, collector::parseConfig);
  if (!config) return daemon::fail(kAbout, config.error(), program::kExitUsage);
  if (const auto loaded = collector::loadKeys(*config); !loaded) {
    return daemon::fail(kAbout, loaded.error(), program::kExitUsage);
  }
  log::init(kAbout.name, config->log_levels);
  const auto manager = SystemServiceManager::start();
  if (!manager) return daemon::fail(kAbout, manager.error());
  const auto collector = collector::Collector::start(*config);
  if (!collector) return daemon::fail(kAbout, collector.error());
  const daemon::UrlFile url_file(config->url_file);
  if (auto status = url_file.write((*collector)->url()); !status) {
    return daemon::fail(kAbout, status.error());
  }
  daemon::serve(**collector, **manager, file, collector::parseConfig);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return pingloom::daemon::start(kAbout, argc, argv, runCollector);
}
