// Counts what this program takes from malloc, new and Eigen included. Only without sanitizers,
// which have a malloc of their own: with them the count stays 0.
#pragma once

#include <cstdint>

namespace pingloom::collector::analytics {

std::uint64_t allocations();

}  // namespace pingloom::collector::analytics
