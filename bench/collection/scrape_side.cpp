#include <fmt/format.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/registry.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "common/time.h"
#include "http/client.h"
#include "shared/child.h"
#include "shared/clocks.h"
#include "sides.h"

namespace pingloom::bench {
namespace {

constexpr int kFirstPort = 29'100;

struct Endpoint {
  std::unique_ptr<prometheus::Exposer> exposer;
  std::shared_ptr<prometheus::Registry> registry;
};

Endpoint startEndpoint(int number, int metrics) {
  Endpoint made;
  made.exposer =
      std::make_unique<prometheus::Exposer>(fmt::format("127.0.0.1:{}", kFirstPort + number), 1);
  made.registry = std::make_shared<prometheus::Registry>();
  for (int i = 0; i < metrics; ++i) {
    prometheus::BuildCounter()
        .Name(fmt::format("bench_metric_{}_total", i))
        .Register(*made.registry)
        .Add({{"application", fmt::format("application-{}", number)}})
        .Increment(i);
  }
  made.exposer->RegisterCollectable(made.registry);
  return made;
}

}  // namespace

Collected scrapeEndpoints(const Shape& shape, double seconds) {
  Child host([&](int ready) -> int {
    std::vector<Endpoint> endpoints;
    endpoints.reserve(static_cast<std::size_t>(shape.applications));
    for (int i = 0; i < shape.applications; ++i) {
      endpoints.push_back(startEndpoint(i, shape.metrics));
    }
    if (write(ready, "r", 1) != 1) return 1;
    for (;;) pause();
  });
  if (!host.await('r')) {
    std::fprintf(stderr, "the endpoints of prometheus-cpp did not start\n");
    std::exit(1);
  }
  Collected made;
  const Nanos cpu = processCpu();
  const Nanos host_cpu = host.usage().cpu;
  const Nanos begin = monotonicNow();
  const auto elapsed = [&] { return toSeconds(monotonicNow() - begin); };
  while (elapsed() < seconds) {
    for (int i = 0; i < shape.applications; ++i) {
      const auto answer =
          http::get(fmt::format("http://127.0.0.1:{}", kFirstPort + i), "/metrics", kSecond);
      if (!answer || answer->status != 200) {
        std::fprintf(stderr, "an endpoint of prometheus-cpp does not answer\n");
        std::exit(1);
      }
      const std::string& text = answer->body;
      made.read_bytes += static_cast<double>(text.size());
      // Two lines of every three are comments. The endpoint's own four series are not counted.
      made.metrics += static_cast<double>(
          std::min<std::ptrdiff_t>(shape.metrics, std::count(text.begin(), text.end(), '\n') / 3));
    }
    ++made.rounds;
  }
  made.seconds = elapsed();
  made.collector_cpu = toSeconds(processCpu() - cpu);
  made.host_cpu = toSeconds(host.usage().cpu - host_cpu);
  return made;
}

}  // namespace pingloom::bench
