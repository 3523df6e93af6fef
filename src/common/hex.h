// Hexadecimal digits. Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace pingloom {

// Two digits in lower case for each byte.
std::string hexOf(std::string_view bytes);

}  // namespace pingloom
