#include "pages/page_schema.h"

#include <algorithm>
#include <utility>

namespace pingloom::pages {
namespace {

tl::unexpected<Refused> refuseMetric(std::string text) {
  return tl::unexpected(Refused{Refusal::kMetric, std::move(text)});
}

}  // namespace

Granted<Metric> PageSchema::check(std::span<const std::uint8_t> definition, Nanos now) const {
  Bytes bytes(definition);
  auto metric = readMetric(bytes);
  if (!metric || !bytes.empty()) {
    return refuseMetric("a name, label, shape or slot is not as it has to be");
  }
  for (std::size_t slot = metric->first_slot; slot < metric->first_slot + metric->allSlots();
       ++slot) {
    if (taken_[slot]) return refuseMetric(metric->name + ": its slots are another metric's");
    if (rests_until_ != nullptr && now < (*rests_until_)[slot]) {
      return refuseMetric(metric->name + ": its slots were another metric's a moment ago");
    }
  }
  if (metric->kind == PINGLOOM_INFO && infos_ >= kMaxInfos) {
    return refuseMetric(metric->name + ": too many infos on one page");
  }
  return std::move(*metric);
}

void PageSchema::add(const Metric& metric, std::span<const std::uint8_t> definition) {
  const bool info = metric.kind == PINGLOOM_INFO;
  bytes_.insert(bytes_.end(), definition.begin(), definition.end());
  entries_.push_back({static_cast<std::uint32_t>(definition.size()), metric.first_slot,
                      static_cast<std::uint16_t>(metric.allSlots()), info});
  for (std::size_t i = 0; i < metric.allSlots(); ++i) taken_.set(metric.first_slot + i);
  infos_ += info ? 1 : 0;
  ++version_;
}

Granted<bool> PageSchema::remove(std::span<const std::uint8_t> definition, Nanos now) {
  auto at = bytes_.begin();
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    const auto begin = std::exchange(at, at + entry.bytes);
    return std::equal(definition.begin(), definition.end(), begin, at);
  });
  if (found == entries_.end()) return refuseMetric("the page has no such metric");
  const Entry removed = *found;
  entries_.erase(found);
  bytes_.erase(at - removed.bytes, at);
  infos_ -= removed.info ? 1 : 0;
  ++version_;
  if (removed.slots == 0) return false;
  if (rests_until_ == nullptr) rests_until_ = std::make_unique<Times>();
  for (std::size_t slot = removed.first; slot < std::size_t{removed.first} + removed.slots;
       ++slot) {
    taken_.reset(slot);
    (*rests_until_)[slot] = now + kRest;
  }
  return true;
}

}  // namespace pingloom::pages
