// An exemplar as it stands in a page's slots, every field free to be wrong.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "pages/exemplar_rules.h"

namespace pingloom::pages::test {

struct RawExemplar {
  std::vector<std::pair<std::string, std::string>> labels = {{"trace_id", "4bf92f35"}};
  double value = 1500;
  std::uint64_t time = 1'700'000'000'123'456'789;
  std::uint64_t sequence = 2;

  std::array<std::uint64_t, PINGLOOM_EXEMPLAR_SLOTS> slots() const {
    std::string text;
    for (const auto& [name, content] : labels) {
      text += static_cast<char>(name.size());
      text += name;
      text += static_cast<char>(content.size());
      text += content;
    }
    return slotsWith(text);
  }
  // With these bytes as labels.
  std::array<std::uint64_t, PINGLOOM_EXEMPLAR_SLOTS> slotsWith(const std::string& bytes) const {
    pingloom_exemplar raw{};
    raw.sequence = sequence;
    raw.time = time;
    raw.value = value;
    std::memcpy(raw.labels, bytes.data(), std::min(bytes.size(), sizeof raw.labels));
    raw.checksum = checksumOf(raw);
    std::array<std::uint64_t, PINGLOOM_EXEMPLAR_SLOTS> made{};
    std::memcpy(made.data(), &raw, sizeof raw);
    return made;
  }
};

}  // namespace pingloom::pages::test
