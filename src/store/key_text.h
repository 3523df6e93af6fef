// Keys as people write them: "text:db-7", "hex:00ff", "u32:17" (four bytes, big endian, as reports
// carry numbers), and tuples (tuple_key.h). Pure functions; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace pingloom::store {

// A key has 1 to kMaxKeyBytes. The error says what is accepted.
Result<std::vector<std::uint8_t>> parseKey(std::string_view text);

// Writes a key so that parseKey() gives the same bytes: as text if all of it is printable ASCII,
// else as a tuple or u32: if it has the length of one, else with hex:.
std::string keyText(std::span<const std::uint8_t> key);

}  // namespace pingloom::store
