#include <cstdlib>

#include "common/daemon.h"
#include "translator/translator.h"

namespace {

constexpr pingloom::daemon::About kAbout{
    "pingloom-translator",
    "Takes reports of telemetry and writes them into a collector's memory by RDMA.",
    "config/translator.yaml"};

// A reload takes effect as a whole or not at all, the files of the reporters' keys included.
pingloom::Result<pingloom::translator::Config> parseReload(std::string_view text,
                                                           std::string_view file) {
  auto config = pingloom::translator::parseConfig(text, file);
  if (!config) return config;
  const auto loaded = pingloom::translator::loadReporterKeys(config->reporters);
  if (!loaded) return tl::unexpected(loaded.error());
  return config;
}

int runTranslator(const std::string& file) {
  using namespace pingloom;
  auto config = daemon::readConfig(file, translator::parseConfig);
  if (!config) return daemon::fail(kAbout, config.error(), program::kExitUsage);
  if (const auto loaded = translator::loadKeys(*config); !loaded) {
    return daemon::fail(kAbout, loaded.error(), program::kExitUsage);
  }
  log::init(kAbout.name, config->log_levels);
  const auto manager = SystemServiceManager::start();
  if (!manager) return daemon::fail(kAbout, manager.error());
  const auto translator = translator::Translator::start(*config);
  if (!translator) return daemon::fail(kAbout, translator.error());
  const daemon::UrlFile url_file(config->url_file);
  if (auto status = url_file.write((*translator)->url()); !status) {
    return daemon::fail(kAbout, status.error());
  }
  daemon::serve(**translator, **manager, file, parseReload);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return pingloom::daemon::start(kAbout, argc, argv, runTranslator);
}
