#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "collector/reader_shares.h"
#include "collector/reader_thread.h"
#include "common/time.h"
#include "page_host.h"
#include "shared/clocks.h"
#include "shared/wait.h"
#include "sides.h"

namespace pingloom::bench {
namespace {

constexpr const char* kReader = "127.0.77.2";

using Hosts = std::vector<std::unique_ptr<PageHost>>;
using Readers = std::vector<std::unique_ptr<collector::ReaderThread>>;

Readers startReaders(int count, collector::Board& board) {
  const auto address = *IpAddress::parse(kReader);
  auto devices = rdma::openDevices(address, static_cast<std::uint32_t>(count), softDevice());
  if (!devices) die(devices.error());
  Readers made;
  for (std::shared_ptr<rdma::Device>& device : *devices) {
    auto reader =
        collector::ReaderThread::start({made.size(), address, std::move(device)}, "bench", board);
    if (!reader) die(reader.error());
    made.push_back(std::move(*reader));
  }
  return made;
}

void setAgents(const Readers& readers, const Hosts& hosts) {
  std::vector<collector::AgentSpec> agents;
  for (const auto& host : hosts) agents.push_back({host->agent(), 1});
  auto shares = collector::ReaderShares(readers.size()).share(std::move(agents));
  for (std::size_t i = 0; i < readers.size(); ++i) readers[i]->set(std::move(shares[i]));
}

// Counts the values on pages that were read in the last round.
std::size_t freshMetrics(const collector::AgentView& view) {
  std::size_t metrics = 0;
  for (const collector::PageView& page : view.pages) {
    if (page.state == collector::PageState::kFresh) metrics += page.values.size();
  }
  return metrics;
}

// Whether every host's values have all been read.
bool allRead(const collector::Board& board, std::size_t hosts, const Shape& shape) {
  const std::size_t all =
      static_cast<std::size_t>(shape.applications) * static_cast<std::size_t>(shape.metrics);
  const auto entries = board.entries();
  if (entries.size() != hosts) return false;
  for (const auto& entry : entries) {
    if (freshMetrics(entry->copy()) < all) return false;
  }
  return true;
}

// Adds what was read of one host.
void add(const collector::AgentView& before, const collector::AgentView& after, Collected& to) {
  const auto rounds = static_cast<double>(after.counters.rounds - before.counters.rounds);
  to.rounds += rounds;
  to.metrics += rounds * static_cast<double>(freshMetrics(after));
  const auto& now = after.counters.reading;
  const auto& then = before.counters.reading;
  to.read_bytes += static_cast<double>(now.bytes - then.bytes);
  to.useful_bytes += static_cast<double>(now.useful_bytes - then.useful_bytes);
}

std::vector<collector::AgentView> look(const collector::Board& board) {
  std::vector<collector::AgentView> views;
  for (const auto& entry : board.entries()) views.push_back(entry->copy());
  return views;
}

Collected between(const std::vector<collector::AgentView>& before,
                  const std::vector<collector::AgentView>& after) {
  Collected made;
  for (std::size_t i = 0; i < before.size(); ++i) add(before[i], after[i], made);
  return made;
}

// Returns the metrics a second in the slowest second of so many.
double slowestWithin(double seconds, const collector::Board& board) {
  double slowest = std::numeric_limits<double>::infinity();
  for (double left = seconds; left > 0; left -= 1) {
    const auto before = look(board);
    const Nanos begin = monotonicNow();
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, 1.0)));
    const auto after = look(board);
    slowest = std::min(slowest, between(before, after).metrics / toSeconds(monotonicNow() - begin));
  }
  return slowest;
}

Nanos cpuOf(const Hosts& hosts) {
  Nanos sum = 0;
  for (const auto& host : hosts) sum += host->cpu();
  return sum;
}

}  // namespace

Collected collectPages(const Shape& shape, double seconds, int hosts_count, int readers_count) {
  Hosts hosts;
  for (int i = 0; i < hosts_count; ++i) hosts.push_back(std::make_unique<PageHost>(i, shape));
  collector::Board board;
  const Readers readers = startReaders(readers_count, board);
  setAgents(readers, hosts);
  const auto fresh = waitUntil("all metrics at the collector", kPatience,
                               [&] { return allRead(board, hosts.size(), shape); });
  if (!fresh) die(fresh.error());
  const auto before = look(board);
  const Nanos cpu = processCpu();
  const Nanos host_cpu = cpuOf(hosts);
  const Nanos begin = monotonicNow();
  const double slowest = slowestWithin(seconds, board);
  Collected made = between(before, look(board));
  made.slowest = slowest;
  made.seconds = toSeconds(monotonicNow() - begin);
  made.collector_cpu = toSeconds(processCpu() - cpu);
  made.host_cpu = toSeconds(cpuOf(hosts) - host_cpu);
  return made;
}

}  // namespace pingloom::bench
