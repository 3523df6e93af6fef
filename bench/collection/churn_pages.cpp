#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <memory>
#include <pingloom/pages.hpp>
#include <unordered_set>

#include "churn_sides.h"
#include "collector/reader_thread.h"
#include "page_host.h"
#include "shared/clocks.h"
#include "shared/process_usage.h"

namespace pingloom::bench {
namespace {

constexpr const char* kReaderAddress = "127.0.77.2";
constexpr Nanos kReadInterval = 100 * kMillisecond;
// Shorter than the interval, so that no page is read twice between two looks.
constexpr Nanos kLook = 20 * kMillisecond;

int pagePod(std::uint64_t number, Nanos started, Nanos until) {
  PagesOptions options;
  options.application = fmt::format("pod-{}", number);
  options.socket = PageHost::socket(0);
  Pages pages(options);
  pages.gauge({"pod_started_seconds"}).set(toSeconds(started));
  sleepUntil(until);
  return 0;
}

// Takes the pods' first values off the board.
class Looker {
 public:
  void look(const collector::Board& board, std::vector<double>& delays) {
    for (const auto& entry : board.entries()) {
      const collector::AgentView view = entry->copy();
      for (const collector::PageView& page : view.pages) {
        if (page.values.empty() || page.values[0] == 0 || page.read == 0) continue;
        if (!seen_.insert(page.info->owner).second) continue;
        delays.push_back(toSeconds(page.read) - std::bit_cast<double>(page.values[0]));
      }
    }
  }

 private:
  std::unordered_set<std::uint64_t> seen_;  // owners
};

std::unique_ptr<collector::ReaderThread> startReader(collector::Board& board,
                                                     const std::string& agent) {
  const auto address = *IpAddress::parse(kReaderAddress);
  auto devices = rdma::openDevices(address, 1, softDevice());
  if (!devices) die(devices.error());
  auto reader =
      collector::ReaderThread::start({0, address, std::move(devices->front())}, "bench", board);
  if (!reader) die(reader.error());
  (*reader)->set({{agent, kReadInterval}});
  return std::move(*reader);
}

}  // namespace

Churned churnPages(const Churn& churn) {
  const PageHost host(0, {});
  // The pods' parent is started before this process has threads.
  Child pods = startPods(
      churn,
      [](std::uint64_t number, Nanos started, Nanos until, int /*pipe*/) {
        return pagePod(number, started, until);
      },
      [](const std::set<std::uint64_t>& /*alive*/) {});
  collector::Board board;
  const auto reader = startReader(board, host.agent());
  Churned made;
  const Nanos cpu = processCpu();
  const Nanos agent_cpu = host.cpu();
  const Nanos deadline = monotonicNow() + churn.length + churn.life + kPatience;
  Looker looker;
  PodRecord end;
  while (!pods.read(&end, sizeof end, kLook)) {
    looker.look(board, made.delays);
    if (monotonicNow() > deadline) die(Error{"pods", "do not end"});
  }
  made.started = static_cast<std::uint64_t>(end.started);
  made.pods_cpu = toSeconds(end.read);
  made.agent_cpu = toSeconds(host.cpu() - agent_cpu);
  made.reader_cpu = toSeconds(processCpu() - cpu);
  made.agent_bytes = static_cast<double>(host.residentBytes());
  made.reader_bytes = static_cast<double>(usageOf(getpid()).resident_bytes);
  return made;
}

}  // namespace pingloom::bench
