// One agent with ten thousand targets: how many of the wanted pings leave, how late, and what
// an exchange costs compared with a bare loop carrying the same packets, measured in the same run.
#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options/value_semantic.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "bare_loop.h"
#include "common/duration.h"
#include "common/program.h"
#include "run.h"

namespace pingloom::bench {
namespace {

constexpr std::uint64_t kBareExchanges = 200'000;
constexpr std::size_t kBareBatch = 64;

struct Row {
  double sent = 0;      // of the wanted, percent
  double lateness = 0;  // p99, ms
  double lateness50 = 0;
  double cpu = 0;  // us per exchange, both processes
  double prober_cpu = 0;
  double bare = 0;  // us per exchange
  double ratio = 0;
  double resident = 0;  // MiB
};

double microseconds(Nanos total, std::uint64_t times) {
  return static_cast<double>(total) / 1e3 / static_cast<double>(std::max<std::uint64_t>(1, times));
}

Result<double> bareMicroseconds(std::uint32_t targets) {
  auto bare = runBareLoop(kBareExchanges, kBareBatch, targets);
  if (!bare) return tl::unexpected(bare.error());
  return microseconds(bare->cpu, bare->exchanges);
}

Result<Row> measure(const Load& load) {
  // bench/soft_ud has the bare loop that carries RoCE packets.
  auto bare_before = load.rdma ? Result<double>(0) : bareMicroseconds(load.targets);
  if (!bare_before) return tl::unexpected(bare_before.error());
  auto run = runAgents(load);
  if (!run) return tl::unexpected(run.error());
  auto bare_after = load.rdma ? Result<double>(0) : bareMicroseconds(load.targets);
  if (!bare_after) return tl::unexpected(bare_after.error());
  const ProberFigures& prober = run->prober;
  Row row;
  row.sent = 100.0 * static_cast<double>(prober.sent) / static_cast<double>(prober.wanted);
  row.lateness = static_cast<double>(prober.lateness.p99) / 1e6;
  row.lateness50 = static_cast<double>(prober.lateness.p50) / 1e6;
  row.cpu = microseconds(run->prober_cpu + run->responder_cpu, prober.sent);
  row.prober_cpu = microseconds(run->prober_cpu, prober.sent);
  row.bare = (*bare_before + *bare_after) / 2;
  row.ratio = load.rdma ? 0 : row.cpu / row.bare;
  row.resident = static_cast<double>(run->prober_resident_bytes) / (1 << 20);
  fmt::print(
      "sent {:.3f} % of {}  lateness p50 {:.3f} p99 {:.3f} max {:.3f} ms  cpu {:.2f} us "
      "(prober {:.2f} + responder {:.2f})  bare {:.2f} us  ratio {:.2f}  resident {:.1f} MiB "
      "(responder {:.1f})\n",
      row.sent, prober.wanted, row.lateness50, row.lateness,
      static_cast<double>(prober.lateness.max) / 1e6, row.cpu, row.prober_cpu,
      row.cpu - row.prober_cpu, row.bare, row.ratio, row.resident,
      static_cast<double>(run->responder_resident_bytes) / (1 << 20));
  fmt::print(
      "  {} windows: sent {} = received {} + lost {} (ack_lost {}, anomalous {}), network p50 {} "
      "ns\n",
      prober.windows, prober.counted_sent, prober.received, prober.lost, prober.ack_lost,
      prober.anomalous, prober.network_p50);
  std::fflush(stdout);
  return row;
}

void printMedian(const char* what, const std::vector<Row>& rows, double Row::*value,
                 const char* goal) {
  std::vector<double> sorted;
  sorted.reserve(rows.size());
  for (const Row& row : rows) sorted.push_back(row.*value);
  std::sort(sorted.begin(), sorted.end());
  fmt::print("{:34} {:9.3f}  [{:.3f} .. {:.3f}]  {}\n", what, sorted[sorted.size() / 2],
             sorted.front(), sorted.back(), goal);
}

int run(const Load& load, int runs) {
  std::vector<Row> rows;
  for (int i = 0; i < runs; ++i) {
    auto row = measure(load);
    if (!row) {
      fmt::print(stderr, "agent_scale: {}\n", row.error().text());
      return 1;
    }
    rows.push_back(*row);
  }
  fmt::print("\n{} targets every {}, {} runs of {}: median [least .. most]\n", load.targets,
             formatDuration(load.interval), runs, formatDuration(load.duration));
  printMedian("sent, % of wanted", rows, &Row::sent, "goal >= 99.9");
  printMedian("send lateness p50, ms", rows, &Row::lateness50, "");
  printMedian("send lateness p99, ms", rows, &Row::lateness, "goal < 2");
  printMedian("CPU per exchange, us", rows, &Row::cpu, "");
  if (!load.rdma) {
    printMedian("bare loop, us", rows, &Row::bare, "(the limit)");
    printMedian("ratio", rows, &Row::ratio, "goal <= 1.5");
  }
  printMedian("prober resident, MiB", rows, &Row::resident, "goal <= 64");
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
  options.add_options()("targets", po::value(&load.targets)->default_value(load.targets), "")(
      "interval-ms", po::value(&interval_ms)->default_value(interval_ms), "")(
      "seconds", po::value(&seconds)->default_value(seconds), "measured in each run")(
      "rdma", po::bool_switch(&load.rdma), "over the soft device instead of UDP")(
      "runs", po::value(&runs)->default_value(runs), "")(
      "port", po::value(&load.port)->default_value(load.port), "this one and the next");
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
