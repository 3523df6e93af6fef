// What a peer may do, and what shows it. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pingloom::http {

// Each may do what those before it may.
enum class Role : std::uint8_t {
  kNone,     // ask whether the process lives, load the page
  kRead,     // see what it knows
  kOperate,  // change something, or have packets sent
};
constexpr std::string_view name(Role role) {
  constexpr std::array<std::string_view, 3> kNames = {"none", "read", "operate"};
  return kNames[static_cast<std::size_t>(role)];
}

using Digest = std::array<std::uint8_t, 32>;  // SHA-256

// Who a peer has shown to be.
struct Pass {
  Role role = Role::kNone;
  Digest token{};    // of which token
  Digest session{};  // and of which session's id; zeros: none, the token came itself
};

}  // namespace pingloom::http
