// Moves what is known about the slots of a group when the group gets other slots.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace pingloom::collector::analytics {

constexpr std::size_t kNewSlot = std::numeric_limits<std::size_t>::max();
// For each slot from now on its number until now, or kNewSlot.
using SlotOrigins = std::span<const std::size_t>;

// `values` has an element for each slot; a new slot gets `fresh`.
template <typename Value>
void rearrange(std::vector<Value>& values, SlotOrigins from, const Value& fresh = Value()) {
  std::vector<Value> moved(from.size(), fresh);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != kNewSlot) moved[i] = std::move(values[from[i]]);
  }
  values = std::move(moved);
}

// `values` has so many rows one after the other, each with an element for each slot.
template <typename Value>
void rearrangeRows(std::vector<Value>& values, std::size_t rows, SlotOrigins from) {
  const std::size_t slots = values.size() / rows;
  std::vector<Value> moved(rows * from.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] != kNewSlot) moved[row * from.size() + i] = values[row * slots + from[i]];
    }
  }
  values = std::move(moved);
}

}  // namespace pingloom::collector::analytics
