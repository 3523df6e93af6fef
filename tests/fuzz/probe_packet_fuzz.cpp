// Whatever parses must be written back to the same bytes, padding aside.
#include <array>
#include <cstdlib>

#include "wire/probe_packet.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pingloom::wire;
  ProbeMessage message;
  if (parse({data, size}, message) != ProbeParseError::kNone) return 0;
  std::array<std::uint8_t, kPingMaxBytes> again{};
  ProbeMessage reparsed;
  write(message, again);
  if (message.length != size) std::abort();
  if (parse({again.data(), size}, reparsed) != ProbeParseError::kNone) std::abort();
  if (reparsed.id != message.id || reparsed.nonce != message.nonce) std::abort();
  if (reparsed.residence_count != message.residence_count) std::abort();
  for (std::size_t i = 0; i < message.residence_count; ++i) {
    if (!(reparsed.residences[i] == message.residences[i])) std::abort();
  }
  if (reparsed.probe != message.probe || reparsed.window != message.window) std::abort();
  return 0;
}
