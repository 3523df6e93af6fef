#include "controller/model/event_batch.h"

#include <algorithm>

namespace pingloom::controller {
namespace {

// Tells whether a window shows the change; it does, unless the change is that no window arrived.
bool shownByWindow(PairState state) {
  return state != PairState::kStale && state != PairState::kPending;
}

}  // namespace

std::uint32_t EventBatch::numberOf(const IpAddress& address) {
  const auto [at, fresh] = numbers_.emplace(address, static_cast<std::uint32_t>(addresses_.size()));
  if (fresh) addresses_.push_back(address);
  return at->second;
}

// Most events belong to the change of the previous one.
EventBatch::Change& EventBatch::changeOf(const StateEvent& event) {
  const auto key =
      std::tie(event.probe, event.from, event.to, event.severity_from, event.severity_to);
  if (last_ == changes_.end() || key != last_->first) last_ = changes_.try_emplace(key).first;
  return last_->second;
}

void EventBatch::add(const StateEvent& event) {
  if (event.from == PairState::kPending &&
      (event.to == PairState::kOk || event.to == PairState::kStale)) {
    return;
  }
  Change& change = changeOf(event);
  if (change.utc == 0) change.utc = event.utc;
  if (shownByWindow(event.to)) {
    change.window_utc = std::max(change.window_utc, event.window_start_utc);
  }
  if (pairs_ == kMaxPairs) {
    ++change.more;
    return;
  }
  ++pairs_;
  change.pairs.emplace_back(numberOf(event.source), numberOf(event.destination));
}

// Each pair is assigned to the one of its two hosts that has more changed pairs, so a dead host's
// row and column become two lines.
void EventBatch::appendLines(const Key& key, const Change& change,
                             std::vector<KeptEvent>& lines) const {
  const KeptEvent all{
      change.utc,       change.window_utc, std::get<0>(key), std::nullopt,
      std::nullopt,     std::get<1>(key),  std::get<2>(key), change.pairs.size() + change.more,
      std::get<3>(key), std::get<4>(key)};
  const std::size_t before = lines.size();
  const auto line = [&](const std::uint32_t* source, const std::uint32_t* destination,
                        std::uint64_t pairs) {
    KeptEvent& made = lines.emplace_back(all);
    if (source != nullptr) made.source = addresses_[*source];
    if (destination != nullptr) made.destination = addresses_[*destination];
    made.pairs = pairs;
  };
  std::unordered_map<std::uint32_t, std::uint32_t> from;
  std::unordered_map<std::uint32_t, std::uint32_t> to;
  for (const auto& [source, destination] : change.pairs) {
    ++from[source];
    ++to[destination];
  }
  std::map<Pair, std::uint64_t> hosts;  // {0: a source, 1: a destination; number}
  const bool few = change.pairs.size() <= kMaxSingle;
  for (const auto& [source, destination] : change.pairs) {
    const std::uint32_t most = std::max(from[source], to[destination]);
    if (few || most < kMinPerHost) {
      line(&source, &destination, 1);
    } else if (to[destination] == most) {
      ++hosts[{1, destination}];
    } else {
      ++hosts[{0, source}];
    }
    if (lines.size() - before + hosts.size() > kMaxHosts) break;
  }
  if (change.more > 0 || lines.size() - before + hosts.size() > kMaxHosts) {
    lines.resize(before);
    lines.push_back(all);
    return;
  }
  for (const auto& [host, pairs] : hosts) {
    line(host.first == 0 ? &host.second : nullptr, host.first == 1 ? &host.second : nullptr, pairs);
  }
}

std::vector<KeptEvent> EventBatch::take(Nanos now_utc) {
  const double passed = static_cast<double>(now_utc - allowed_utc_) / kSecond;
  if (passed > 0) allowance_ = std::min(kMaxBurst, allowance_ + passed * kLinesPerSecond);
  allowed_utc_ = now_utc;
  std::vector<KeptEvent> lines;
  for (auto& [key, change] : changes_) {
    const std::size_t before = lines.size();
    if (allowance_ < 1) {  // only one line is left
      change.more += change.pairs.size();
      change.pairs.clear();
    }
    appendLines(key, change, lines);
    allowance_ -= static_cast<double>(lines.size() - before - 1);
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const KeptEvent& a, const KeptEvent& b) { return a.utc < b.utc; });
  changes_.clear();
  last_ = changes_.end();
  addresses_.clear();
  numbers_.clear();
  pairs_ = 0;
  return lines;
}

}  // namespace pingloom::controller
