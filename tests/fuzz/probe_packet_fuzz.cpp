// Whatever parses must be written back to the same bytes, padding aside.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "wire/probe_packet.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pingloom::wire;
  ProbeMessage message;
  if (parse({data, size}, message) != ProbeParseError::kNone) return 0;
  std::array<std::uint8_t, 32> again{};
  ProbeMessage reparsed;
  const std::size_t written = write(message, again);
  if (message.length != size) std::abort();
  std::array<std::uint8_t, kPingMaxBytes> whole{};
  std::copy_n(again.begin(), written, whole.begin());
  if (parse({whole.data(), size}, reparsed) != ProbeParseError::kNone) std::abort();
  if (reparsed.id != message.id || reparsed.nonce != message.nonce) std::abort();
  return 0;
}
