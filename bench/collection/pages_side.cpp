#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <pingloom/pages.hpp>
#include <thread>
#include <vector>

#include "collector/reader_thread.h"
#include "common/log.h"
#include "common/time.h"
#include "pages/page_service.h"
#include "shared/child.h"
#include "shared/clocks.h"
#include "shared/wait.h"
#include "sides.h"

namespace pingloom::bench {
namespace {

constexpr const char* kSocket = "/tmp/pingloom-collection-bench.sock";
constexpr const char* kHost = "127.0.77.1";
constexpr const char* kReader = "127.0.77.2";
constexpr std::uint16_t kPort = 20714;

rdma::DeviceOptions soft() {
  rdma::DeviceOptions options;
  options.device = rdma::kSoftDevice;
  options.soft.raw_socket = false;
  return options;
}

void die(const Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  std::exit(1);
}

std::unique_ptr<pages::PageService> startService() {
  pages::PageServiceOptions options;
  options.address = *IpAddress::parse(kHost);
  options.device = soft();
  options.server.listen = {options.address, kPort};
  options.server.host = "bench";
  options.server.incarnation = 1;
  options.registration.socket = kSocket;
  auto service = pages::PageService::start(options);
  if (!service) die(service.error());
  return std::move(*service);
}

std::unique_ptr<Pages> startApplication(int number, int metrics) {
  PagesOptions options;
  options.application = fmt::format("application-{}", number);
  options.socket = kSocket;
  auto pages = std::make_unique<Pages>(options);
  for (int i = 0; i < metrics; ++i) {
    pages->counter({fmt::format("bench_metric_{}_total", i)}).add(static_cast<unsigned>(i));
  }
  return pages;
}

bool allKnown(const std::vector<std::unique_ptr<Pages>>& applications, int metrics) {
  for (const auto& pages : applications) {
    if (pages->status().known_metrics < static_cast<unsigned>(metrics)) return false;
  }
  return true;
}

// Counts the values on pages that were read in the last rounds.
std::size_t freshMetrics(const collector::AgentView& view) {
  std::size_t metrics = 0;
  for (const collector::PageView& page : view.pages) {
    if (page.state == collector::PageState::kFresh) metrics += page.values.size();
  }
  return metrics;
}

}  // namespace

Collected collectPages(const Shape& shape, double seconds) {
  Child host([&](int ready) -> int {
    const auto service = startService();
    std::vector<std::unique_ptr<Pages>> applications;
    applications.reserve(static_cast<std::size_t>(shape.applications));
    for (int i = 0; i < shape.applications; ++i) {
      applications.push_back(startApplication(i, shape.metrics));
    }
    const auto known = waitUntil("metrics of all applications", kPatience / 2,
                                 [&] { return allKnown(applications, shape.metrics); });
    if (!known) die(known.error());
    if (write(ready, "r", 1) != 1) return 1;
    for (;;) pause();
  });
  if (!host.await('r')) die(Error{"applications", "did not start"});
  collector::Board board;
  auto reader = collector::ReaderThread::start(*IpAddress::parse(kReader), soft(), "bench", board);
  if (!reader) die(reader.error());
  (*reader)->set({{SocketAddress{*IpAddress::parse(kHost), kPort}.text(), 1}});
  const std::size_t all =
      static_cast<std::size_t>(shape.applications) * static_cast<std::size_t>(shape.metrics);
  const auto look = [&] { return board.entries().front()->copy(); };
  const auto fresh = waitUntil("all metrics at the collector", kPatience, [&] {
    return !board.entries().empty() && freshMetrics(look()) >= all;
  });
  if (!fresh) die(fresh.error());
  const collector::AgentView before = look();
  const Nanos cpu = processCpu();
  const Nanos host_cpu = host.usage().cpu;
  const Nanos begin = monotonicNow();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const collector::AgentView after = look();
  Collected made;
  made.seconds = toSeconds(monotonicNow() - begin);
  made.collector_cpu = toSeconds(processCpu() - cpu);
  made.host_cpu = toSeconds(host.usage().cpu - host_cpu);
  made.rounds = static_cast<double>(after.counters.rounds - before.counters.rounds);
  made.metrics = made.rounds * static_cast<double>(freshMetrics(after));
  made.pages = made.rounds * static_cast<double>(after.pages.size());
  const auto& now = after.counters.reading;
  const auto& then = before.counters.reading;
  made.read_bytes = static_cast<double>(now.bytes - then.bytes);
  made.useful_bytes = static_cast<double>(now.useful_bytes - then.useful_bytes);
  return made;
}

}  // namespace pingloom::bench
