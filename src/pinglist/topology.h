// The topology file that a pinglist names: which router addresses belong to which switch, and the
// switches' names and tiers. docs/pinglist.md is its reference. A value; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"

namespace pingloom::pinglist {

struct Switch {
  std::string name;
  std::uint32_t tier = 0;  // 1: next to hosts; 0: the file does not say
  std::vector<IpAddress> addresses;
};

struct Topology {
  static constexpr std::size_t kMaxFileBytes = 16U << 20;
  static constexpr std::size_t kMaxAddresses = 65'536;
  static constexpr std::size_t kMaxNameBytes = 64;
  static constexpr std::uint32_t kMaxTier = 16;

  std::vector<Switch> switches;  // in the file's order
  std::string file;              // where it was read; empty without one
};

// The error's entity is file:line:column. An address belongs to one switch, and a name to one.
Result<Topology> parseTopology(std::string_view text, std::string_view file);
Result<Topology> loadTopology(const std::string& path);

}  // namespace pingloom::pinglist
