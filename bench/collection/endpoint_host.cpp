#include "endpoint_host.h"

#include <fmt/format.h>
#include <prometheus/counter.h>
#include <prometheus/exposer.h>
#include <prometheus/registry.h>
#include <unistd.h>

#include <vector>

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

std::unique_ptr<Child> startEndpoints(const Shape& shape) {
  auto host = std::make_unique<Child>([&](int ready) -> int {
    std::vector<Endpoint> endpoints;
    endpoints.reserve(static_cast<std::size_t>(shape.applications));
    for (int i = 0; i < shape.applications; ++i) {
      endpoints.push_back(startEndpoint(i, shape.metrics));
    }
    if (write(ready, "r", 1) != 1) return 1;
    for (;;) pause();
  });
  if (!host->await('r')) {
    std::fprintf(stderr, "the endpoints of prometheus-cpp did not start\n");
    std::exit(1);
  }
  return host;
}

std::string endpointUrl(int application) {
  return fmt::format("http://127.0.0.1:{}", kFirstPort + application);
}

}  // namespace pingloom::bench
