// pingloom devices: shows the RDMA devices of this host, and which of them an address would get.
#include <fmt/format.h>

#include <iostream>
#include <optional>

#include "cli/clock_check.h"
#include "cli/commands.h"
#include "cli/devices_report.h"
#include "cli/exit_codes.h"
#include "cli/failure.h"
#include "common/program.h"
#include "common/text.h"
#include "rdma/open_device.h"
#include "rdma/verbs/verbs_device.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kDevicesCommand = "pingloom devices";
constexpr Nanos kClockCheck = 5 * kSecond;

int explain(const std::string& text, const std::string& device,
            const std::optional<std::string>& clock_peer) {
  const auto address = IpAddress::parse(text);
  if (!address) {
    return fail(kDevicesCommand, {"--address", address.error().text()}, program::kExitUsage);
  }
  rdma::DeviceOptions options;
  options.device = device;
  auto opened = rdma::openDevice(*address, options);
  if (!opened) return fail(kDevicesCommand, opened.error(), kExitNoDevice);
  std::cout << textOf(address->text(), (*opened)->info());
  if (!clock_peer) return 0;
  const auto peer = clock_peer->empty() ? address : IpAddress::parse(*clock_peer);
  if (!peer) return fail(kDevicesCommand, {"--clock", peer.error().text()}, program::kExitUsage);
  const auto check = checkClock(**opened, rdma::Gid::of(*peer), kClockCheck);
  if (!check) return fail(kDevicesCommand, check.error(), kExitNoDevice);
  std::cout << textOf(*check);
  return check->plausible() ? 0 : kExitNoDevice;
}

int list(bool as_json, bool with_counters) {
  const auto devices = rdma::verbs::listDevices();
  if (!devices) return fail(kDevicesCommand, devices.error(), kExitNoDevice);
  const CountersOf counters = [&](const rdma::DeviceDetails& device, std::uint8_t port) {
    return with_counters ? rdma::verbs::portCounters(device, port)
                         : std::vector<rdma::PortCounter>();
  };
  std::cout << (as_json ? jsonOf(*devices, counters) : textOf(*devices, counters));
  if (!devices->empty()) return 0;
  return fail(kDevicesCommand,
              {"",
               "there is no RDMA device; a host without one can use the soft "
               "device: 'rdma: { device: soft }' in the agent's configuration"},
              kExitNoDevice);
}

}  // namespace

int runDevices(const std::vector<std::string>& arguments) {
  const program::Usage usage{
      kDevicesCommand, "pingloom devices [options]",
      "Shows the RDMA devices that libibverbs finds: ports, link layers, GIDs, timestamps.\n"
      "With --address it shows the device, port and GID that an endpoint on this address would "
      "get.\n"
      "With --clock it also compares the device's clock with this host's for 5 s, by messages "
      "to itself or to PEER that nobody has to receive.\n"
      "Exit: 0 done, 1 no device or an implausible clock, 2 wrong usage.\n"};
  po::options_description options("Options");
  options.add_options()("address,a", po::value<std::string>(), "an address of this host")(
      "device,d", po::value<std::string>()->default_value("auto"),
      "with --address: auto, soft or a device's name, as the agent's rdma.device")(
      "clock", po::value<std::string>()->implicit_value("")->value_name("[PEER]"),
      "with --address: check the rate of the device's timestamps")(
      "counters", "every port's counters as well")("json", "as one JSON document");
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, options, {}, values)) return *code;
  if (values.count("address") != 0) {
    std::optional<std::string> clock_peer;
    if (values.count("clock") != 0) clock_peer = values["clock"].as<std::string>();
    return explain(values["address"].as<std::string>(), values["device"].as<std::string>(),
                   clock_peer);
  }
  if (values.count("clock") != 0) {
    return fail(kDevicesCommand, {"--clock", "needs --address"}, program::kExitUsage);
  }
  return list(values.count("json") != 0, values.count("counters") != 0);
}

}  // namespace pingloom::cli
