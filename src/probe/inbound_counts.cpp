#include "probe/inbound_counts.h"

#include <algorithm>
#include <cstdlib>

namespace pingloom::probe {

void InboundCounts::begin(const Clock& clock) {
  if (begun_) return;
  begun_ = true;
  offset_ = clock.offset;
  open_from_ = std::max(open_from_, clock.index());
  complete_from_ = static_cast<std::uint64_t>((clock.utc + kMargin) / clock.window) + 1;
}

// When the controller's clock is set, agents hear of it at different moments. The windows of these
// moments have different lengths on different hosts.
void InboundCounts::follow(const Clock& clock) {
  if (std::abs(clock.offset - offset_) < kMargin / 2) return;
  begun_ = false;
  begin(clock);
}

bool InboundCounts::isOpen(std::int64_t index, const Clock& clock) const {
  return index >= static_cast<std::int64_t>(open_from_) &&
         index <= static_cast<std::int64_t>(clock.index()) + 1;
}

std::vector<std::uint32_t>& InboundCounts::slotOf(std::uint64_t index) {
  auto at = std::find_if(slots_.begin(), slots_.end(),
                         [&](const Slot& slot) { return slot.index >= index; });
  if (at == slots_.end() || at->index != index) {
    at = slots_.insert(at, {index, std::vector<std::uint32_t>(trusted_from_.size(), 0)});
  }
  return at->counts;
}

void InboundCounts::arrived(std::uint32_t target, std::uint32_t window, const Clock& clock) {
  if (!begun_) return;
  const auto here = static_cast<std::int64_t>(clock.index());
  const std::int64_t index =
      here + static_cast<std::int32_t>(window - static_cast<std::uint32_t>(here));
  if (!isOpen(index, clock)) {
    trusted_from_[target] = clock.index() + 2;
    return;
  }
  ++slotOf(static_cast<std::uint64_t>(index))[target];
  if (slots_.size() <= kMaxOpen) return;
  open_from_ = slots_.front().index + 1;
  slots_.pop_front();
}

void InboundCounts::take(std::uint64_t index, const Clock& clock, std::span<PairWindow> pairs) {
  if (!begun_) return;
  follow(clock);
  while (!slots_.empty() && slots_.front().index < index) slots_.pop_front();
  const bool counted = !slots_.empty() && slots_.front().index == index;
  const bool complete = index >= complete_from_ && index >= open_from_;
  for (std::size_t i = 0; complete && i < pairs.size(); ++i) {
    if (index >= trusted_from_[i]) pairs[i].inbound = counted ? slots_.front().counts[i] : 0;
  }
  open_from_ = std::max(open_from_, index + 1);
  if (counted) slots_.pop_front();
}

}  // namespace pingloom::probe
