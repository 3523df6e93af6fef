#include <algorithm>

#include "common/time.h"
#include "endpoint_host.h"
#include "http/client.h"
#include "shared/clocks.h"
#include "sides.h"

namespace pingloom::bench {

Collected scrapeEndpoints(const Shape& shape, double seconds) {
  const auto host = startEndpoints(shape);
  Collected made;
  const Nanos cpu = processCpu();
  const Nanos host_cpu = host->usage().cpu;
  const Nanos begin = monotonicNow();
  const auto elapsed = [&] { return toSeconds(monotonicNow() - begin); };
  while (elapsed() < seconds) {
    for (int i = 0; i < shape.applications; ++i) {
      const auto answer = http::get(endpointUrl(i), "/metrics", kSecond);
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
  made.host_cpu = toSeconds(host->usage().cpu - host_cpu);
  return made;
}

}  // namespace pingloom::bench
