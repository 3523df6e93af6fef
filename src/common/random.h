// Random numbers from the kernel, for nonces and identities that nobody may guess.
#pragma once

#include <cstdint>

namespace pingloom {

std::uint64_t randomU64();

}  // namespace pingloom
