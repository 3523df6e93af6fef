#include "localise/candidates.h"

namespace pingloom::localise {
namespace {

constexpr std::uint32_t kNoSlot = 0xffffffff;

}  // namespace

Candidates::Candidates(const Fabric& fabric, std::span<const Observation> evidence,
                       const std::vector<bool>& may_be)
    : slots_(may_be.size(), kNoSlot) {
  for (ComponentId component = 0; component < may_be.size(); ++component) {
    if (!may_be[component]) continue;
    slots_[component] = static_cast<std::uint32_t>(ids_.size());
    ids_.push_back(component);
  }
  begins_.assign(ids_.size() + 1, 0);
  if (ids_.empty()) return;
  for (const Observation& it : evidence) {
    for (const ComponentId component : fabric.componentsOf(it.path)) {
      if (slots_[component] != kNoSlot) ++begins_[slots_[component] + 1];
    }
  }
  for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  rows_.resize(begins_.back());
  std::vector<std::uint32_t> ends(begins_.begin(), begins_.end() - 1);
  for (std::uint32_t row = 0; row < evidence.size(); ++row) {
    for (const ComponentId component : fabric.componentsOf(evidence[row].path)) {
      if (slots_[component] != kNoSlot) rows_[ends[slots_[component]]++] = row;
    }
  }
}

std::span<const std::uint32_t> Candidates::rows(ComponentId component) const {
  const std::uint32_t slot = slots_[component];
  return std::span(rows_).subspan(begins_[slot], begins_[slot + 1] - begins_[slot]);
}

}  // namespace pingloom::localise
