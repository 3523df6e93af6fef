// A list that is accepted is written so that it means the same when it is read again.
#include <cstdlib>
#include <string_view>

#include "keys/authorized_keys.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using pingloom::keys::AuthorizedKeys;
  const auto parsed =
      AuthorizedKeys::parse({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  if (!parsed) {
    if (parsed.error().reason.empty()) std::abort();
    return 0;
  }
  const auto again = AuthorizedKeys::parse(parsed->text(), "again.yaml");
  if (!again || again->text() != parsed->text()) std::abort();
  for (std::size_t i = 0; i < parsed->entries().size(); ++i) {
    if (again->entries()[i].addresses != parsed->entries()[i].addresses) std::abort();
  }
  return 0;
}
