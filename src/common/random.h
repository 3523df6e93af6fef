// Random numbers from the kernel, for nonces and identities that must not be predictable.
#pragma once

#include <cstdint>

namespace pingloom {

std::uint64_t randomU64();

}  // namespace pingloom
