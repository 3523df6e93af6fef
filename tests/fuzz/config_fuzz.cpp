// A configuration that is refused says where and why; whatever else, nobody falls over.
#include <cstdlib>
#include <string_view>

#include "agent/config.h"
#include "collector/config.h"
#include "controller/config.h"
#include "translator/config.h"

namespace {

template <typename Config>
void check(const pingloom::Result<Config>& parsed) {
  if (!parsed && (parsed.error().entity.empty() || parsed.error().reason.empty())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(pingloom::agent::parseConfig(text, "fuzz.yaml"));
  check(pingloom::controller::parseConfig(text, "fuzz.yaml"));
  check(pingloom::collector::parseConfig(text, "fuzz.yaml"));
  check(pingloom::translator::parseConfig(text, "fuzz.yaml"));
  return 0;
}
