// The entries that a translator appends to list 0 of the table kPathChanges when another identity
// takes the place of a path's hop (docs/store-format.md). Big endian. Pure functions; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "common/time.h"
#include "store/layout.h"
#include "store/path_writer.h"

namespace pingloom::store {

constexpr std::string_view kPathChanges = "path-changes";
constexpr std::size_t kPathChangeHead = 12;

// The bytes of an entry with the longest key.
constexpr std::size_t pathChangeBytes(std::size_t identity_bytes) {
  return kPathChangeHead + 2 * identity_bytes + kMaxKeyBytes;
}
using PathChangeEntry = std::array<std::uint8_t, pathChangeBytes(kIpv6Bytes)>;

// Returns the part of `out` that is the entry.
std::span<const std::uint8_t> encodePathChange(const PathChange& change, Nanos utc,
                                               PathChangeEntry& out);

struct ReadPathChange {
  Nanos utc = 0;
  PathChange change;  // points into the entry
};
// `entry` comes from a list, and zeros may follow it. nullopt for what is none.
std::optional<ReadPathChange> decodePathChange(std::span<const std::uint8_t> entry);

}  // namespace pingloom::store
