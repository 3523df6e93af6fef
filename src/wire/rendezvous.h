// Rendezvous hashing: which of several controllers is an agent's home. Both sides rank the
// controllers by the same weights, so an agent mostly finds its home without being told, and when a
// controller comes or goes, only the agents that it gains or loses move. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/sip_hash.h"

namespace pingloom::wire {

// The controller of the largest weight is the home. The key only has to be the same everywhere.
inline std::uint64_t homeWeight(std::string_view host, std::string_view controller) {
  constexpr SipKey kKey{'p', 'i', 'n', 'g', 'l', 'o', 'o', 'm', ' ', 'h', 'o', 'm', 'e'};
  SipState state(kKey);
  for (const std::string_view text : {host, controller}) {
    state.take(text.size());
    for (std::size_t at = 0; at < text.size(); at += 8) {
      std::uint64_t word = 0;
      for (std::size_t i = at; i < text.size() && i < at + 8; ++i) {
        word = word << 8 | static_cast<std::uint8_t>(text[i]);
      }
      state.take(word);
    }
  }
  return state.finish();
}

}  // namespace pingloom::wire
