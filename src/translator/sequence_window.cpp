#include "translator/sequence_window.h"

#include <utility>

namespace pingloom::translator {

void SequenceWindow::lose(std::uint32_t sequence) {
  if (has(sequence)) return;
  wordOf(sequence) |= bitOf(sequence);
  --missing_;
  ++lost_;
}

// Moves the window, in which all of the next `by` sequences but the last are missing then.
void SequenceWindow::advance(std::uint32_t by) {
  if (by >= kSize) {
    lost_ += missing_ + (by - kSize);
    arrived_.fill(0);
    missing_ = kSize - 1;
    latest_ += by;
    settled_ = latest_ - kSize;
    wordOf(latest_) |= bitOf(latest_);
    return;
  }
  for (std::uint32_t i = 1; i < by; ++i) {
    lose(++latest_);  // the sequence that leaves the window has the same place
    wordOf(latest_) &= ~bitOf(latest_);
    ++missing_;
  }
  lose(++latest_);
}

SequenceWindow::Arrival SequenceWindow::take(std::uint32_t sequence) {
  const auto ahead = static_cast<std::int32_t>(sequence - latest_);
  if (ahead > 0) {
    advance(static_cast<std::uint32_t>(ahead));
    return Arrival::kNew;
  }
  if (latest_ - sequence >= kSize) return Arrival::kOld;
  if (has(sequence)) return Arrival::kDuplicate;
  wordOf(sequence) |= bitOf(sequence);
  --missing_;
  return Arrival::kNew;
}

void SequenceWindow::giveUp() {
  if (missing_ != 0) {
    const std::uint32_t beyond = latest_ - settled_;
    for (std::uint32_t back = beyond; back < kSize && missing_ != 0; ++back) lose(latest_ - back);
  }
  settled_ = latest_;
}

std::size_t SequenceWindow::missingRanges(std::span<wire::ReportRange> out) const {
  std::size_t ranges = 0;
  std::uint32_t left = missing_;
  bool open = false;
  for (std::uint32_t back = kSize - 1; back > 0 && left > 0; --back) {
    const std::uint32_t sequence = latest_ - back;
    if (has(sequence)) {
      open = false;
      continue;
    }
    --left;
    if (!open && ranges == out.size()) break;
    if (!open) out[ranges++] = {sequence, 0};
    open = true;
    ++out[ranges - 1].count;
  }
  return ranges;
}

std::uint64_t SequenceWindow::takeLost() { return std::exchange(lost_, 0); }

}  // namespace pingloom::translator
