// Hexadecimal digits. Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pingloom {

// Two digits in lower case for each byte.
std::string hexOf(std::string_view bytes);
// The byte of two digits in either case; nullopt if one of them is none.
std::optional<unsigned char> hexByte(char high, char low);

}  // namespace pingloom
