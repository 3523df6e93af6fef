// A pinglist that is accepted makes a plan that agents accept.
#include <cstdlib>
#include <string_view>

#include "pinglist/pinglist.h"
#include "plan/plan_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pingloom;
  const auto parsed = pinglist::parse({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  if (!parsed) {
    if (parsed.error().reason.empty()) std::abort();
    return 0;
  }
  if (!plan::decode(plan::encode(parsed->plan, nullptr), nullptr)) std::abort();
  return 0;
}
