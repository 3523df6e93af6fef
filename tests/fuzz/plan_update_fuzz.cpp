// A plan that is accepted has the hash it names and can be sent on. The hash is mended first: a
// fuzzer cannot guess it.
#include <cstdlib>

#include "plan/plan_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pingloom;
  wire::PlanUpdate update;
  if (!update.ParseFromArray(data, static_cast<int>(size))) return 0;
  (void)plan::decode(update, nullptr);
  plan::Plan plan;
  update.set_base_hash(0);
  const auto decoded = plan::decode(update, &plan);
  if (!decoded) return 0;
  if (plan::hash(*decoded) != update.hash()) std::abort();
  if (!plan::decode(plan::encode(*decoded, nullptr), nullptr)) std::abort();
  return 0;
}
