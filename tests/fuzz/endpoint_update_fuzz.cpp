// A table that an update leads to can be kept and read again.
#include <cstdlib>

#include "plan/endpoint_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pingloom;
  wire::EndpointUpdate update;
  if (!update.ParseFromArray(data, static_cast<int>(size))) return 0;
  plan::HeldEndpoints held;
  held.version = {update.controller(), update.base_version()};
  const auto next = plan::apply(update, held);
  if (!next) return 0;
  const auto again = plan::apply(plan::encode(*next), {});
  if (!again || *again->table != *next->table) std::abort();
  return 0;
}
