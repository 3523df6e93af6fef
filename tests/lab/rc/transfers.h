// READ, WRITE, WRITE with immediate, FETCH_ADD and COMPARE_SWAP, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "connection.h"

namespace pingloom::lab {

// Each operation with each of these sizes, and bytes beside it untouched; counters; many at a time.
void transfers(Connection& connection, std::uint32_t mtu, const std::vector<std::size_t>& sizes);

}  // namespace pingloom::lab
