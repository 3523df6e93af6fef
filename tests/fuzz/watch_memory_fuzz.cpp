// Whatever is in the collector's file, a detector that was read from it judges samples within its
// bounds, also after its metrics have changed.
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "collector/watch/watch_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pingloom::collector;
  analytics::SubspaceSettings settings;
  settings.directions = 2;
  settings.max_rank = 1;
  settings.warm_up = 18;
  auto memory = readMemory({reinterpret_cast<const char*>(data), size}, settings);
  if (!memory) return 0;
  std::size_t features = 0;
  for (const MetricMemory& metric : memory->metrics) features += metric.features();
  std::vector<double> sample(features, 1);
  const auto observe = [&] {
    for (int i = 0; i < 4; ++i) {
      for (double& value : sample) value += i;
      memory->detector.observe(sample);
      memory->detector.fit(1);
    }
  };
  observe();
  std::vector<std::size_t> from(features + 1, analytics::kNewSlot);
  for (std::size_t i = 0; i < features; ++i) from[i] = features - 1 - i;
  memory->detector.rearrange(from, true);
  sample.push_back(0);
  observe();
  analytics::Replica replica(features + 1);
  replica.takeOver(memory->replica, from);
  replica.observe(sample);
  return 0;
}
