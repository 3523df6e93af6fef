// The owners of metric pages on a host, which its agent reports to the controller. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pingloom {

struct PageOwner {
  std::string application;  // 1 to kMaxPageApplication bytes of UTF-8, no control characters
  std::uint32_t process = 0;
  std::uint32_t user = 0;
  std::uint32_t pages = 0;  // at least 1
  std::uint32_t metrics = 0;

  bool operator==(const PageOwner&) const = default;
};
constexpr std::size_t kMaxPageApplication = 64;

struct PageOwners {
  static constexpr std::size_t kMax = 256;
  std::vector<PageOwner> owners;  // the oldest owners
  std::uint32_t left_out = 0;     // number of further owners

  bool operator==(const PageOwners&) const = default;
};

}  // namespace pingloom
