// Keys as people write them: "text:db-7", "hex:00ff", "u32:17" (four bytes, big endian, as reports
// carry numbers), and tuples (tuple_key.h). Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/error.h"

namespace pingloom::store {

// A key has 1 to kMaxKeyBytes. The error says what is accepted.
Result<std::vector<std::uint8_t>> parseKey(std::string_view text);

}  // namespace pingloom::store
