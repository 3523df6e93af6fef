#include <malloc.h>

#include <boost/program_options.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>
#include <vector>

#include "common/fd.h"
#include "common/file.h"
#include "common/log.h"
#include "common/program.h"
#include "controller/controller.h"
#include "controller/http/dashboard.h"

namespace {

namespace po = boost::program_options;
using pingloom::Error;
using pingloom::IpAddress;
using pingloom::SocketAddress;

constexpr std::size_t kMaxConfigBytes = 1U << 20;
constexpr int kExitFailure = 1;

int fail(const Error& error) {
  std::cerr << "pingloom-controller: " << error.text() << "\n";
  return kExitFailure;
}

// Where a browser on this machine finds it.
std::string urlOf(SocketAddress address) {
  if (address.address.isUnspecified()) {
    const std::uint8_t v6_loopback[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    address.address = address.address.isV4() ? IpAddress::fromV4(0x7f000001)
                                             : IpAddress::fromBytes16(v6_loopback);
  }
  return "http://" + address.text();
}

int runController(const std::string& file) {
  const auto text = pingloom::readFile(file, kMaxConfigBytes);
  if (!text) return fail(text.error());
  const auto config = pingloom::controller::parseConfig(*text, file);
  if (!config) return fail(config.error());
  pingloom::log::init("pingloom-controller", config->log_level);
  // Few threads allocate much, and free what another allocated: more arenas only hold on to it.
  mallopt(M_ARENA_MAX, 2);
  const pingloom::UniqueFd stop = pingloom::program::blockStopSignals();
  pingloom::raiseDescriptorLimit();  // each agent is a connection
  const auto controller = pingloom::controller::Controller::start(*config);
  if (!controller) return fail(controller.error());
  const auto dashboard = pingloom::controller::Dashboard::start(
      {config->http, config->web_root.native(), {}, ledgerFile(*config)}, (*controller)->board(),
      (*controller)->bursts());
  if (!dashboard) return fail(dashboard.error());
  const std::string url = urlOf((*dashboard)->address());
  if (config->web_root.empty()) {
    pingloom::log::warning("the dashboard is not built; at {} there is the API only", url);
  } else {
    pingloom::log::info("dashboard at {}", url);
  }
  if (!config->url_file.empty()) {
    if (auto status = pingloom::writeFileAtomic(config->url_file, url + "\n"); !status) {
      return fail(status.error());
    }
  }
  (*controller)->run(stop.get());
  std::error_code ignored;
  if (!config->url_file.empty()) std::filesystem::remove(config->url_file, ignored);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  po::options_description options("Options");
  options.add_options()("config,c", po::value<std::string>()->required()->value_name("FILE"),
                        "the controller's configuration; config/controller.yaml explains it");
  const pingloom::program::Usage usage{
      "pingloom-controller", "pingloom-controller --config FILE",
      "Hands the pinglist to the agents, gathers their results, and shows them."};
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = pingloom::program::parse(usage, arguments, options, {}, values)) {
    return *code;
  }
  return runController(values["config"].as<std::string>());
}
