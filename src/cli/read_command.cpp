// pingloom read: reads another host's memory by RDMA, as ib_read_lat and ib_read_bw do.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "cli/command_options.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/failure.h"
#include "cli/ping_session.h"
#include "cli/read_report.h"
#include "cli/read_server.h"
#include "cli/text_table.h"
#include "common/program.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kReadCommand = "pingloom read";
constexpr std::uint16_t kDefaultExchangePort = 20713;
constexpr std::uint32_t kMaxBytes = 1U << 30;
constexpr std::uint64_t kMaxMemory = 1ULL << 30;  // bytes times depth

struct Target {
  std::string host;
  std::string region;
};

// "10.0.0.2:test", "host-2:test", "[fd00::2]:test".
Result<Target> parseTarget(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) {
    return makeError(printable(text), "must be HOST:REGION, as in 10.0.0.2:test");
  }
  Target target{text.substr(0, colon), text.substr(colon + 1)};
  const bool bracketed = target.host.starts_with('[') && target.host.ends_with(']');
  if (bracketed) target.host = target.host.substr(1, target.host.size() - 2);
  if (!bracketed && target.host.find(':') != std::string::npos) {
    return makeError(printable(text), "an IPv6 address needs brackets, as in [fd00::2]:test");
  }
  if (target.host.empty() || !wire::isRegionName(target.region)) {
    return makeError(printable(text),
                     "must be HOST:REGION; a region's name has up to 32 of a-z, "
                     "0-9, '-', '_' and '.'");
  }
  return target;
}

struct ReadRequest {
  Target target;
  SocketAddress server;
  IpAddress source;
  rdma::DeviceOptions device;
  ReadJob job;
  bool json = false;
};

Status readJob(const po::variables_map& values, ReadJob& job) {
  const auto bytes = numberOption(values, "bytes", 0, kMaxBytes);
  if (!bytes) return tl::unexpected(bytes.error());
  const auto count = numberOption(values, "count", 1, 1'000'000'000);
  if (!count) return tl::unexpected(count.error());
  const auto depth = numberOption(values, "depth", 1, 1024);
  if (!depth) return tl::unexpected(depth.error());
  if (std::uint64_t{*bytes} * *depth > kMaxMemory) {
    return makeError("--depth", "that many READs of that size take more than 1 GiB");
  }
  job.bytes = *bytes;
  job.count = *count;
  job.depth = *depth;
  job.busy = values.count("busy") != 0;
  return {};
}

Result<ReadRequest> readRequestOf(const po::variables_map& values) {
  ReadRequest request;
  if (values.count("target") == 0) return makeError("", "a HOST:REGION is needed, or --serve");
  auto target = parseTarget(values["target"].as<std::string>());
  if (!target) return tl::unexpected(target.error());
  request.target = std::move(*target);
  if (auto read = readJob(values, request.job); !read) return tl::unexpected(read.error());
  const auto port = numberOption(values, "port", 1, 65535);
  if (!port) return tl::unexpected(port.error());
  auto device = deviceOptions(values["device"].as<std::string>());
  if (!device) return tl::unexpected(device.error());
  request.device = std::move(*device);
  const auto source = sourceOption(values);
  if (!source) return tl::unexpected(source.error());
  const auto address = resolve(request.target.host, *source);
  if (!address) return tl::unexpected(address.error());
  request.server = {*address, static_cast<std::uint16_t>(*port)};
  const auto own = *source ? Result<IpAddress>(**source) : sourceTowards(*address);
  if (!own) return tl::unexpected(own.error());
  request.source = *own;
  request.json = values.count("json") != 0;
  return request;
}

// The connection, and what is known about it before the first READ.
Result<std::unique_ptr<ReadRun>> startRun(const ReadRequest& request, rdma::Device& device,
                                          int stop, ReadReport& report) {
  rdma::RcOptions options;
  options.depth = request.job.depth;
  options.busy = request.job.busy;
  auto domain = device.createDomain();
  if (!domain) return tl::unexpected(domain.error());
  auto endpoint = (*domain)->createRc(options);
  if (!endpoint) return tl::unexpected(endpoint.error());
  const rdma::RcAddress own = (*endpoint)->address();
  auto remote = askForRegion(request.source, request.server, request.target.region, own, stop);
  if (!remote) return tl::unexpected(remote.error());
  if (request.job.bytes > remote->length) {
    return makeError("--bytes", fmt::format("the region has {} bytes", remote->length));
  }
  if (auto connected = (*endpoint)->connect(remote->peer); !connected) {
    return tl::unexpected(connected.error());
  }
  report.server = printable(request.target.host);
  report.region = request.target.region;
  report.region_bytes = remote->length;
  report.server_device = remote->device;
  report.device = device.info().name;
  report.mtu = std::min(own.mtu, remote->peer.mtu);
  report.job = request.job;
  return ReadRun::create(std::move(*domain), request.job, std::move(*endpoint), std::move(*remote),
                         stop);
}

int measureReads(const ReadRequest& request) {
  const UniqueFd stop = program::blockStopSignals();
  auto device = rdma::openDevice(request.source, request.device);
  if (!device) return usageError(kReadCommand, device.error());
  ReadReport report;
  auto run = startRun(request, **device, stop.get(), report);
  if (!run) return usageError(kReadCommand, run.error());
  if (!request.json) std::cout << titleOf(report) << std::flush;
  report.alone = (*run)->run(1);
  if (report.alone.complete() && request.job.depth > 1) {
    report.together = (*run)->run(request.job.depth);
  }
  std::cout << (request.json ? jsonOf(report) + "\n" : textOf(report)) << std::flush;
  return isGood(report) ? 0 : kExitReadFailed;
}

Result<ServeOptions> serveOptions(const po::variables_map& values) {
  ServeOptions options;
  const auto port = numberOption(values, "port", 0, 65535);
  if (!port) return tl::unexpected(port.error());
  options.listen.port = static_cast<std::uint16_t>(*port);
  auto device = deviceOptions(values["device"].as<std::string>());
  if (!device) return tl::unexpected(device.error());
  options.device = std::move(*device);
  options.region = values["region"].as<std::string>();
  if (!wire::isRegionName(options.region)) {
    return makeError("--region", "has up to 32 of a-z, 0-9, '-', '_' and '.'");
  }
  if (!values["bytes"].defaulted()) {
    const auto bytes = numberOption(values, "bytes", 1, kMaxBytes);
    if (!bytes) return tl::unexpected(bytes.error());
    options.bytes = *bytes;
  }
  return options;
}

// Serves on the address given, or on the first address of this host that has a device.
Result<std::unique_ptr<ReadServer>> startServer(const po::variables_map& values,
                                                ServeOptions& options) {
  const auto source = sourceOption(values);
  if (!source) return tl::unexpected(source.error());
  const auto candidates = ownAddresses(*source, "--serve");
  if (!candidates) return tl::unexpected(candidates.error());
  std::optional<Error> fault;
  for (const IpAddress& address : *candidates) {
    options.listen.address = address;
    auto made = ReadServer::create(options);
    if (made) return made;
    if (!fault) fault = made.error();
  }
  return tl::unexpected(*fault);
}

int serve(const po::variables_map& values) {
  const UniqueFd stop = program::blockStopSignals();
  auto options = serveOptions(values);
  if (!options) return usageError(kReadCommand, options.error());
  auto server = startServer(values, *options);
  if (!server) return usageError(kReadCommand, server.error());
  const SocketAddress listening{options->listen.address, (*server)->port()};
  const std::string host =
      listening.address.isV4() ? listening.address.text() : "[" + listening.address.text() + "]";
  std::cout << fmt::format(
                   "serving {} bytes on {} with {}; ask with 'pingloom read {}:{}'; stop with "
                   "Ctrl-C\n",
                   options->bytes, listening.text(), (*server)->device().name, host,
                   options->region)
            << std::flush;
  (*server)->run(stop.get());
  std::cout << fmt::format("served {} readers, refused {}\n", (*server)->served(),
                           (*server)->refused());
  return 0;
}

}  // namespace

int runRead(const std::vector<std::string>& arguments) {
  const program::Usage usage{
      kReadCommand,
      "pingloom read HOST:REGION [options]\n"
      "       pingloom read --serve [--source ADDRESS] [-d DEVICE] [--region NAME] [--bytes N]",
      "Reads memory of HOST by RDMA, without its processor (RC READ), from a 'pingloom read\n"
      "--serve' there. It does --count READs one at a time to measure latency, then as many with\n"
      "--depth in flight to measure throughput, and compares the contents with the server's.\n"
      "Exit: 0 all contents are right, 1 something failed or is wrong, 2 wrong usage or no route "
      "there.\n"};
  po::options_description options("Options");
  options.add_options()("bytes,b", po::value<std::int64_t>()->default_value(4096),
                        "of one READ; with --serve of the region (then 1048576 unless given)")(
      "count,c", po::value<std::int64_t>()->default_value(1000), "how many READs")(
      "depth", po::value<std::int64_t>()->default_value(16),
      "READs in flight while measuring throughput; 1 measures latency only")(
      "busy", "spin instead of waiting for events: lower latency, at the cost of a core")(
      "port", po::value<std::int64_t>()->default_value(kDefaultExchangePort),
      "TCP port over which the two agree")("source", po::value<std::string>(),
                                           "address of this host, and so its device")(
      "device,d", po::value<std::string>()->default_value("auto"),
      "auto (the device that has the source address), soft, NAME or NAME/PORT")(
      "serve", "offer a region to read instead, on --source or the first address with a device")(
      "region", po::value<std::string>()->default_value("test"), "the name that --serve gives it")(
      "json", "one JSON document")("target", po::value<std::string>(),
                                   "HOST:REGION (the first word)");
  po::positional_options_description positional;
  positional.add("target", 1);
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, options, positional, values)) return *code;
  if (values.count("serve") != 0) {
    if (values.count("target") != 0)
      return usageError(kReadCommand, {"--serve", "needs no HOST:REGION"});
    return serve(values);
  }
  const auto request = readRequestOf(values);
  if (!request) return usageError(kReadCommand, request.error());
  return measureReads(*request);
}

}  // namespace pingloom::cli
