// The rights of a peer, and the credentials that gave them. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pingloom::http {

// Each role includes the rights of those before it.
enum class Role : std::uint8_t {
  kNone,     // may check the process's health and load the page
  kRead,     // may read results
  kCollect,  // may register as a collector, whose results are shown
  kOperate,  // may change something or have packets sent
};
constexpr std::string_view name(Role role) {
  constexpr std::array<std::string_view, 4> kNames = {"none", "read", "collect", "operate"};
  return kNames[static_cast<std::size_t>(role)];
}

using Digest = std::array<std::uint8_t, 32>;  // SHA-256

// The rights that a peer has proved.
struct Pass {
  Role role = Role::kNone;
  Digest token{};    // the digest of its token
  Digest session{};  // the digest of its session's id; zeros: the request carried the token itself
};

}  // namespace pingloom::http
