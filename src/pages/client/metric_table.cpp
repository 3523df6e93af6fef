#include "pages/client/metric_table.h"

#include <algorithm>
#include <utility>

#include "pages/registration.h"

namespace pingloom::pages::client {

namespace {

constexpr std::size_t kSlotsPerLine = 8;

// The slots that a metric occupies, including what it leaves unused of cache lines of its own.
std::size_t reservedSlots(const Definition& metric) {
  if (!metric.own_line) return metric.allSlots();
  return (metric.allSlots() + kSlotsPerLine - 1) / kSlotsPerLine * kSlotsPerLine;
}

}  // namespace

std::optional<std::size_t> MetricTable::freeSlots(const Definition& metric) const {
  const std::size_t wanted = reservedSlots(metric);
  if (wanted > taken_.size() - taken_.count()) return std::nullopt;
  const std::size_t step = metric.own_line ? kSlotsPerLine : 1;
  for (std::size_t first = 0; first + wanted <= taken_.size();) {
    std::size_t end = first;
    while (end < first + wanted && !taken_[end]) ++end;
    if (end == first + wanted) return first;
    first = (end / step + 1) * step;  // the slot at `end` is taken
  }
  return std::nullopt;
}

bool MetricTable::hasRoom(const Definition& metric, std::size_t most_bytes) const {
  if (schema_bytes_ + metric.schema_bytes > most_bytes) return false;
  if (metric.form.kind == PINGLOOM_INFO) return infos_ < kMaxInfos;
  return freeSlots(metric).has_value();
}

MetricNumber MetricTable::add(Definition metric) {
  const MetricNumber number = next_++;
  if (metric.form.kind == PINGLOOM_INFO) {
    metric.first = static_cast<std::uint16_t>(used_slots_);
    ++infos_;
  } else {
    const std::size_t first = *freeSlots(metric);
    metric.first = static_cast<std::uint16_t>(first);
    for (std::size_t i = 0; i < reservedSlots(metric); ++i) taken_.set(first + i);
    used_slots_ = std::max(used_slots_, first + metric.allSlots());
  }
  schema_bytes_ += metric.schema_bytes;
  ++living_;
  entries_[number].metric = std::move(metric);
  news_.push_back({number, false});
  return number;
}

void MetricTable::remove(MetricNumber number, Instant now) {
  Entry& entry = entries_.at(number);
  entry.removed = true;
  --living_;
  switch (entry.told) {
    case Told::kAsked:  // the answer decides whether there is something to remove
      return;
    case Told::kKnown:
      --known_;
      news_.push_back({number, true});
      return;
    case Told::kNot:  // it is not mentioned, so that news stay as few as metrics without an agent
      std::erase_if(news_, [&](const News& news) { return news.number == number; });
      return rest(number, entry, now);
    case Told::kRefused:
      return rest(number, entry, now);
  }
}

void MetricTable::rest(MetricNumber number, Entry& entry, Instant now) {
  const bool info = entry.metric.form.kind == PINGLOOM_INFO;
  entry.resting = true;
  entry.rests_until = now + (info ? std::chrono::seconds(0) : kRest);
  schema_bytes_ -= entry.metric.schema_bytes;
  infos_ -= info ? 1 : 0;
  if (info) {
    resting_.push_front(number);
  } else {
    resting_.push_back(number);
  }
}

void MetricTable::sweep(Instant now) {
  while (!resting_.empty()) {
    const auto rested = entries_.find(resting_.front());
    const Entry& entry = rested->second;
    if (now < entry.rests_until) return;
    if (entry.metric.form.kind != PINGLOOM_INFO) {
      for (std::size_t i = 0; i < reservedSlots(entry.metric); ++i) {
        taken_.reset(entry.metric.first + i);
      }
    }
    entries_.erase(rested);
    resting_.pop_front();
  }
}

std::optional<MetricTable::News> MetricTable::news() const {
  if (news_.empty()) return std::nullopt;
  return news_.front();
}

void MetricTable::told() {
  const News next = news_.front();
  news_.pop_front();
  fresh_ = false;
  if (!next.removed) entries_.at(next.number).told = Told::kAsked;
}

void MetricTable::defined(MetricNumber number) {
  Entry& entry = entries_.at(number);
  entry.told = Told::kKnown;
  if (entry.removed) {
    news_.push_back({number, true});
  } else {
    ++known_;
  }
}

void MetricTable::refused(MetricNumber number, Instant now) {
  Entry& entry = entries_.at(number);
  entry.told = Told::kRefused;
  if (entry.removed) rest(number, entry, now);
}

void MetricTable::forgotten(MetricNumber number, Instant now) {
  rest(number, entries_.at(number), now);
}

void MetricTable::startOver(Instant now) {
  if (std::exchange(fresh_, true)) return;
  known_ = 0;
  news_.clear();
  for (auto& [number, entry] : entries_) {
    if (!entry.removed) {
      entry.told = Told::kNot;
      news_.push_back({number, false});
    } else if (!entry.resting) {
      rest(number, entry, now);
    }
  }
}

}  // namespace pingloom::pages::client
