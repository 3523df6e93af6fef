#include <fmt/format.h>

#include <memory>
#include <pingloom/pages.hpp>
#include <thread>
#include <vector>

#include "collector/reader_thread.h"
#include "common/log.h"
#include "common/time.h"
#include "pages/page_service.h"
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

// Pages whose values are of the last rounds.
std::size_t freshMetrics(const collector::AgentView& view) {
  std::size_t metrics = 0;
  for (const collector::PageView& page : view.pages) {
    if (page.state == collector::PageState::kFresh) metrics += page.values.size();
  }
  return metrics;
}

}  // namespace

Collected collectPages(const Shape& shape, double seconds) {
  const Serving host([&](auto ready) {
    const auto service = startService();
    std::vector<std::unique_ptr<Pages>> applications;
    applications.reserve(static_cast<std::size_t>(shape.applications));
    for (int i = 0; i < shape.applications; ++i) {
      applications.push_back(startApplication(i, shape.metrics));
    }
    while (!allKnown(applications, shape.metrics)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ready();
    for (;;) pause();
  });
  collector::Board board;
  auto reader = collector::ReaderThread::start(*IpAddress::parse(kReader), soft(), "bench", board);
  if (!reader) die(reader.error());
  (*reader)->set({{SocketAddress{*IpAddress::parse(kHost), kPort}.text(), 1}});
  const std::size_t all =
      static_cast<std::size_t>(shape.applications) * static_cast<std::size_t>(shape.metrics);
  const auto look = [&] { return board.entries().front()->copy(); };
  while (board.entries().empty() || freshMetrics(look()) < all) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const collector::AgentView before = look();
  const double cpu = ownCpuSeconds(), host_cpu = host.cpuSeconds();
  const Nanos begin = monotonicNow();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const collector::AgentView after = look();
  Collected made;
  made.seconds = static_cast<double>(monotonicNow() - begin) / 1e9;
  made.collector_cpu = ownCpuSeconds() - cpu;
  made.host_cpu = host.cpuSeconds() - host_cpu;
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
