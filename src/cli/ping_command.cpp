// pingloom ping: measures one host once, in the same way as an agent.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "agent/config.h"
#include "cli/command_options.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/failure.h"
#include "cli/ping_result.h"
#include "cli/ping_session.h"
#include "cli/rdma_ping.h"
#include "cli/text_table.h"
#include "common/duration.h"
#include "common/program.h"
#include "wire/probe_packet.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kPingCommand = "pingloom ping";

Result<Nanos> durationOption(const po::variables_map& values, const char* name, Nanos shortest,
                             Nanos longest) {
  const auto duration = parseDuration(values[name].as<std::string>());
  const std::string option = std::string("--") + name;
  if (!duration) return makeError(option, duration.error().reason);
  if (*duration < shortest || *duration > longest) {
    return makeError(
        option, fmt::format("must be {} to {}", formatDuration(shortest), formatDuration(longest)));
  }
  return *duration;
}

Status readNumbers(const po::variables_map& values, PingRequest& request) {
  const auto count = numberOption(values, "count", 1, 1'000'000);
  if (!count) return tl::unexpected(count.error());
  const auto port = numberOption(values, "port", 1, 65535);
  if (!port) return tl::unexpected(port.error());
  const auto traffic_class = numberOption(values, "traffic-class", 0, 255);
  if (!traffic_class) return tl::unexpected(traffic_class.error());
  const auto payload = numberOption(values, "payload", wire::kPingMinBytes, wire::kPingMaxBytes);
  if (!payload) return tl::unexpected(payload.error());
  const auto interval = durationOption(values, "interval", kMillisecond, kHour);
  if (!interval) return tl::unexpected(interval.error());
  const auto timeout = durationOption(values, "timeout", kMillisecond, 10 * kSecond);
  if (!timeout) return tl::unexpected(timeout.error());
  request.count = *count;
  request.target.port = static_cast<std::uint16_t>(*port);
  request.traffic_class = *traffic_class;
  request.payload = *payload;
  request.interval = *interval;
  request.timeout = *timeout;
  return {};
}

Result<PingRequest> pingRequestOf(const po::variables_map& values) {
  PingRequest request;
  if (values.count("protocol") == 0 || values.count("host") == 0) {
    return makeError("", "a protocol (udp, tcp or rdma) and a host are needed");
  }
  const auto protocol = protocolNamed(values["protocol"].as<std::string>());
  if (!protocol) {
    return makeError(printable(values["protocol"].as<std::string>()), "must be udp, tcp or rdma");
  }
  request.protocol = *protocol;
  request.device = values["device"].as<std::string>();
  if (auto read = readNumbers(values, request); !read) return tl::unexpected(read.error());
  const auto source = sourceOption(values);
  if (!source) return tl::unexpected(source.error());
  const auto address = resolve(values["host"].as<std::string>(), *source);
  if (!address) return tl::unexpected(address.error());
  request.target.address = *address;
  const auto own = *source ? Result<IpAddress>(**source) : sourceTowards(*address);
  if (!own) return tl::unexpected(own.error());
  request.source = *own;
  return request;
}

// Runs the other side of `ping rdma` until it is stopped.
int listen(const po::variables_map& values) {
  const UniqueFd stop = program::blockStopSignals();
  const auto port = numberOption(values, "port", 1, 65535);
  if (!port) return usageError(kPingCommand, port.error());
  const auto address = sourceOption(values);
  if (!address) return usageError(kPingCommand, address.error());
  const auto listened = listenForRdmaPings(*address, static_cast<std::uint16_t>(*port),
                                           values["device"].as<std::string>(), stop.get());
  return listened ? 0 : usageError(kPingCommand, listened.error());
}

int measurePing(const PingRequest& request, const std::string& host, bool json) {
  const UniqueFd stop = program::blockStopSignals();
  auto session = startPing(request);
  if (!session) return usageError(kPingCommand, session.error());
  const std::string target = request.target.address.text();
  if (!json) {
    std::cout << fmt::format("ping {} {} ({}) from {}\n", name(request.protocol), printable(host),
                             request.target.text(), request.source.text());
  }
  PingSummary summary;
  std::uint64_t done = 0;
  for (bool go_on = true; go_on && done + (*session)->skipped() < request.count;) {
    go_on = (*session)->wait(stop.get());
    probe::PairWindow& pair = (*session)->pair();
    for (const PingResult& result : resultsOf(pair)) {
      ++done;
      summary.add(result);
      if (json) {
        std::cout << jsonOf(result) << std::endl;
      } else {
        std::cout << target << ": " << lineOf(result) << std::endl;
      }
    }
    summary.addReplies(pair.late, pair.duplicate);
    pair.clear();
  }
  summary.setSkipped((*session)->skipped());
  std::cout << (json ? summary.json() + "\n" : "\n" + summary.text()) << std::flush;
  return summary.received() > 0 ? 0 : kExitNoReply;
}

}  // namespace

int runPing(const std::vector<std::string>& arguments) {
  const program::Usage usage{
      kPingCommand,
      "pingloom ping udp|tcp|rdma HOST [options]\n"
      "       pingloom ping rdma --listen [--source ADDRESS] [-d DEVICE]",
      "Measures one host from here, as an agent would. udp needs an agent at HOST, rdma an agent "
      "or\n"
      "a 'pingloom ping rdma --listen'; tcp an agent or a service on --port.\n"
      "network is the fabric both ways, responder the other host, prober this one, rtt all of it\n"
      "(tcp: network as the kernel measures it, rtt the time of the connect).\n"
      "Exit: 0 something was received, 1 nothing was, 2 wrong usage or no route.\n"};
  po::options_description options("Options");
  options.add_options()("count,c", po::value<std::int64_t>()->default_value(5), "how many pings")(
      "interval,i", po::value<std::string>()->default_value("1s"), "between two pings")(
      "port", po::value<std::int64_t>()->default_value(agent::kDefaultProbePort),
      "of the agent or service")("source", po::value<std::string>(),
                                 "address of this host to send from")(
      "timeout", po::value<std::string>()->default_value("500ms"), "then a ping is lost")(
      "traffic-class", po::value<std::int64_t>()->default_value(0), "DSCP+ECN byte")(
      "payload", po::value<std::int64_t>()->default_value(64), "bytes of a PING (udp, rdma)")(
      "device,d", po::value<std::string>()->default_value("auto"),
      "rdma: auto (the device that has the source address), soft, NAME or NAME/PORT")(
      "listen",
      "rdma: answer pings instead, to --source or to all addresses of the device, until Ctrl-C")(
      "json", "one JSON document per line: each exchange, then the summary")(
      "protocol", po::value<std::string>(), "udp, tcp or rdma (the first word)")(
      "host", po::value<std::string>(), "name or address (the second word)");
  po::positional_options_description positional;
  positional.add("protocol", 1).add("host", 1);
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, options, positional, values)) return *code;
  if (values.count("listen") != 0) {
    const bool rdma =
        values.count("protocol") != 0 && values["protocol"].as<std::string>() == "rdma";
    return rdma ? listen(values) : usageError(kPingCommand, {"--listen", "only for rdma"});
  }
  const auto request = pingRequestOf(values);
  if (!request) return usageError(kPingCommand, request.error());
  return measurePing(*request, values["host"].as<std::string>(), values.count("json") != 0);
}

}  // namespace pingloom::cli
