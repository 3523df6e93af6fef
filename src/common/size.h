// Numbers of bytes as people write them: "512KiB", "4GiB". Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/error.h"

namespace pingloom {

constexpr std::uint64_t kMaxSize = INT64_MAX;  // SQLite's integers are signed

// Bytes, or a whole number with B, KiB, MiB, GiB or TiB; at most kMaxSize.
Result<std::uint64_t> parseSize(std::string_view text);
// The shortest form that parseSize reads back exactly: "4MiB", "1500B". `blank` separates the unit
// in text for people: "4 MiB".
std::string formatSize(std::uint64_t bytes, std::string_view blank = "");
// An estimate for people, with two digits of a unit: "1.46 KiB", "1023 B". REQUIRES: bytes >= 0.
std::string humanBytes(double bytes);

}  // namespace pingloom
