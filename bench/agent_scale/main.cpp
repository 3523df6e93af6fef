// Measures one agent with ten thousand targets: how many of the wanted pings leave, how late they
// are, and what an exchange costs compared with a bare loop that moves the same packets in the same
// run.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "bare_udp_loop.h"
#include "common/duration.h"
#include "common/program.h"
#include "run.h"
#include "shared/bare_roce_loop.h"
#include "shared/figures.h"

namespace pingloom::bench {
namespace {

constexpr std::uint64_t kBareExchanges = 200'000;
constexpr std::size_t kBareBatch = 64;
constexpr std::size_t kRdmaPayload = 64;

double microseconds(Nanos total, std::uint64_t times) {
  return static_cast<double>(total) / 1e3 / static_cast<double>(std::max<std::uint64_t>(1, times));
}

Result<double> bareMicroseconds(const Load& load, bool acks) {
  const auto bare = load.rdma
                        ? runBareRoceLoop({kBareExchanges, kBareBatch, kRdmaPayload}, false, acks)
                        : runBareUdpLoop(kBareExchanges, kBareBatch, load.targets, acks);
  if (!bare) return tl::unexpected(bare.error());
  return bare->microsecondsEach();
}

// Prints the verdicts of all exchanges, for a person to look over.
void printWindows(const ProberFigures& prober) {
  fmt::print(
      "  {} windows: sent {} = received {} + lost {} (ack_lost {}, anomalous {}), network p50 {} "
      "ns, latest ping {:.3f} ms\n",
      prober.windows, prober.counted_sent, prober.received, prober.lost, prober.ack_lost,
      prober.anomalous, prober.network_p50, static_cast<double>(prober.lateness.max) / 1e6);
  std::fflush(stdout);
}

// Makes one run between two of the bare loop, and then one of the bare loop without ACKs.
Status measure(const Load& load, Figures& figures) {
  const auto bare_before = bareMicroseconds(load, true);
  if (!bare_before) return tl::unexpected(bare_before.error());
  const auto run = runAgents(load);
  if (!run) return tl::unexpected(run.error());
  const auto bare_after = bareMicroseconds(load, true);
  if (!bare_after) return tl::unexpected(bare_after.error());
  const auto bare_of_two = bareMicroseconds(load, false);
  if (!bare_of_two) return tl::unexpected(bare_of_two.error());
  const ProberFigures& prober = run->prober;
  printWindows(prober);
  const double cpu = microseconds(run->prober_cpu + run->responder_cpu, prober.sent);
  const double bare = (*bare_before + *bare_after) / 2;
  figures.add("pings sent, of those wanted", "%",
              100.0 * static_cast<double>(prober.sent) / static_cast<double>(prober.wanted));
  figures.add("send lateness p50", "ms", static_cast<double>(prober.lateness.p50) / 1e6);
  figures.add("send lateness p99", "ms", static_cast<double>(prober.lateness.p99) / 1e6);
  figures.add("CPU per exchange, prober and responder", "us", cpu);
  figures.add("CPU per exchange, prober alone", "us", microseconds(run->prober_cpu, prober.sent));
  figures.add("limit: bare loop, CPU per exchange", "us", bare);
  figures.add("CPU per exchange, of the bare loop's", "", cpu / bare);
  figures.add("limit: bare loop without ACKs, CPU per exchange", "us", *bare_of_two);
  figures.add("CPU per exchange, of the bare loop's without ACKs", "", cpu / *bare_of_two);
  figures.add("resident memory of the prober", "MiB",
              static_cast<double>(run->prober_resident_bytes) / (1 << 20));
  return {};
}

int run(const Load& load, int runs) {
  Figures figures;
  for (int i = 0; i < runs; ++i) {
    if (const auto status = measure(load, figures); !status) {
      fmt::print(stderr, "agent_scale: {}\n", status.error().text());
      return 1;
    }
  }
  fmt::print("\n{} targets every {}, {} runs of {}\n", load.targets, formatDuration(load.interval),
             runs, formatDuration(load.duration));
  figures.print();
  return 0;
}

}  // namespace
}  // namespace pingloom::bench

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  using pingloom::bench::Load;
  Load load;
  int runs = 3;
  int seconds = 30;
  int interval_ms = 1000;
  po::options_description options("Options");
  options.add_options()("targets", po::value(&load.targets)->default_value(load.targets),
                        "how many targets the prober has, 1 to 65536")(
      "interval-ms", po::value(&interval_ms)->default_value(interval_ms),
      "milliseconds between two pings to a target")(
      "seconds", po::value(&seconds)->default_value(seconds), "how long each run measures")(
      "rdma", po::bool_switch(&load.rdma), "probe over the soft device instead of UDP")(
      "runs", po::value(&runs)->default_value(runs), "how many runs to make")(
      "port", po::value(&load.port)->default_value(load.port),
      "the prober's UDP port; the responder has the next one");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = pingloom::program::parse(
          {"agent_scale", "agent_scale [options]", "Measures the UDP or RDMA transport at scale."},
          arguments, options, {}, values)) {
    return *code;
  }
  if (load.targets == 0 || load.targets > 65'536 || runs < 1 || seconds < 1 || interval_ms < 1) {
    fmt::print(stderr, "agent_scale: a value is out of range\n");
    return pingloom::program::kExitUsage;
  }
  load.interval = interval_ms * pingloom::kMillisecond;
  load.window = std::max<pingloom::Nanos>(10 * pingloom::kSecond, load.interval);
  load.duration = seconds * pingloom::kSecond;
  return pingloom::bench::run(load, runs);
}
