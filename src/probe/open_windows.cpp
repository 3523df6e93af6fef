#include "probe/open_windows.h"

#include <algorithm>
#include <utility>

#include "wire/probe_packet.h"

namespace pingloom::probe {

OpenWindows::OpenWindows(std::shared_ptr<const plan::Assignment> assignment, WindowOrigin origin,
                         const WindowClock& clock, WindowQueue& queue)
    : assignment_(std::move(assignment)),
      origin_(std::move(origin)),
      clock_(&clock),
      queue_(&queue),
      probe_tag_(wire::probeTag(assignment_->probe.name)),
      inbound_(assignment_->destinations.size()) {}

InboundCounts::Clock OpenWindows::clockAt(Nanos now) const {
  const Nanos offset = clock_->offset();
  return {std::max<Nanos>(0, now + offset), offset, assignment_->probe.window};
}

bool OpenWindows::hasCurrent() const {
  return !windows_.empty() && windows_.back().close_mono == kNever;
}

void OpenWindows::endCurrent(Nanos now) {
  if (!hasCurrent()) return;
  Window& current = windows_.back();
  // After a clock has jumped back, this window would stay open until the clock has caught up.
  // Windows of twice the length follow instead until then.
  const bool over =
      indexAt(now) > current.index || now - current.opened_mono >= 2 * assignment_->probe.window;
  if (over) current.close_mono = now + current.timeout + kWindowGrace;
}

std::uint64_t OpenWindows::open(Nanos now) {
  endCurrent(now);
  if (!hasCurrent()) {
    last_index_ = std::max(indexAt(now), last_index_ + 1);
    inbound_.begin(clockAt(now));
    windows_.push_back({last_index_, now, assignment_->probe.timeout, kNever,
                        queue_->spare(assignment_->destinations.size())});
  }
  return last_index_;
}

PairWindow& OpenWindows::windowFor(std::uint32_t target, std::uint64_t index) {
  for (auto window = windows_.rbegin(); window != windows_.rend(); ++window) {
    if (window->index == index) return window->pairs[target];
  }
  return windows_.empty() ? unclaimed_ : windows_.back().pairs[target];
}

bool OpenWindows::isOpen(std::uint64_t index) const {
  return std::any_of(windows_.begin(), windows_.end(),
                     [&](const Window& window) { return window.index == index; });
}

Nanos OpenWindows::nextClose() const {
  Nanos next = kNever;
  if (hasCurrent()) {
    const Nanos window = assignment_->probe.window;
    const Nanos end = static_cast<Nanos>(last_index_ + 1) * window - clock_->offset();
    next = std::min(end, windows_.back().opened_mono + 2 * window);
  }
  return windows_.empty() ? next : std::min(next, windows_.front().close_mono);
}

void OpenWindows::closeDue(Nanos now) {
  endCurrent(now);
  while (!windows_.empty() && windows_.front().close_mono <= now) {
    Window& done = windows_.front();
    inbound_.take(done.index, clockAt(now), done.pairs);
    handOver(done, now);
    windows_.pop_front();
  }
}

void OpenWindows::flush(Nanos now) {
  for (Window& window : windows_) {
    for (PairWindow& pair : window.pairs) {
      pair.sent = pair.received + pair.lost + pair.refused + pair.unreachable;
    }
    handOver(window, now);
  }
  windows_.clear();
}

void OpenWindows::handOver(Window& window, Nanos now) {
  queue_->push({assignment_, window.index, origin_.path, origin_.clock, origin_.device,
                std::move(window.pairs)},
               now);
}

bool OpenWindows::keeps(const plan::Assignment& assignment) const {
  return assignment.probe.name == assignment_->probe.name &&
         assignment.source == assignment_->source &&
         assignment.probe.window == assignment_->probe.window;
}

void OpenWindows::reassign(std::shared_ptr<const plan::Assignment> assignment,
                           std::span<const std::uint32_t> new_numbers) {
  const bool same_pairs = assignment->destinations == assignment_->destinations;
  for (Window& window : windows_) {
    if (window.close_mono == kNever) {
      window.timeout = std::max(window.timeout, assignment->probe.timeout);
    }
    if (same_pairs) continue;
    std::vector<PairWindow> pairs = queue_->spare(assignment->destinations.size());
    for (std::size_t i = 0; i < new_numbers.size(); ++i) {
      if (new_numbers[i] != kGone) std::swap(pairs[new_numbers[i]], window.pairs[i]);
    }
    std::swap(window.pairs, pairs);
    queue_->recycle(std::move(pairs));
  }
  if (!same_pairs) inbound_ = InboundCounts(assignment->destinations.size());
  assignment_ = std::move(assignment);
}

}  // namespace pingloom::probe
