// A decoded distribution has a summary in order, and survives another round trip.
#include <cstdlib>

#include "wire/distribution_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pingloom;
  wire::SampleSet set;
  if (!set.ParseFromArray(data, static_cast<int>(size))) return 0;
  const auto decoded = wire::decode(viewOf(set));
  if (!decoded) return 0;
  const Summary summary = decoded->summary();
  if (summary.count != 0 && !(summary.min <= summary.p50 && summary.p50 <= summary.p95 &&
                              summary.p95 <= summary.p99 && summary.p99 <= summary.max)) {
    std::abort();
  }
  wire::SampleSet again;
  wire::encode(*decoded, again);
  if (!wire::decode(viewOf(again))) std::abort();
  return 0;
}
