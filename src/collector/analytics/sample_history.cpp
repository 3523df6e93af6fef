#include "collector/analytics/sample_history.h"

#include <algorithm>

namespace pingloom::collector::analytics {

SampleHistory::SampleHistory(std::size_t slots, std::size_t rows, std::uint64_t day)
    : slots_(slots), capacity_(rows), day_(day), values_(slots * rows) {}

void SampleHistory::add(std::span<const double> sample) {
  if (samples_++ % stride_ != 0) return;
  if (used_ == capacity_) {
    if (used_ * stride_ < day_) {
      thin();
      if ((samples_ - 1) % stride_ != 0) return;
    } else {
      first_ = (first_ + 1) % capacity_;
      --used_;
    }
  }
  const std::size_t place = (first_ + used_++) % capacity_;
  std::transform(sample.begin(), sample.end(),
                 values_.begin() + static_cast<std::ptrdiff_t>(place * slots_),
                 [](double value) { return static_cast<float>(value); });
}

// first_ is 0 until the day is covered.
void SampleHistory::thin() {
  used_ /= 2;
  for (std::size_t i = 1; i < used_; ++i) {
    const auto from = values_.begin() + static_cast<std::ptrdiff_t>(2 * i * slots_);
    std::copy_n(from, slots_, values_.begin() + static_cast<std::ptrdiff_t>(i * slots_));
  }
  stride_ *= 2;
}

// Rows are written from the oldest on, so a reader's first one has the first place.
void SampleHistory::state(StateArchive& archive) {
  archive(used_, stride_, samples_);
  archive.require(used_ <= capacity_ && stride_ > 0 && stride_ <= day_);
  if (archive.reads()) first_ = 0;
  for (std::size_t i = 0; archive.ok() && i < used_; ++i) {
    archive.numbers(std::span(values_).subspan(placeOf(i), slots_));
  }
}

void SampleHistory::rearrange(SlotOrigins from) {
  slots_ = from.size();
  rearrangeRows(values_, capacity_, from);
}

void SampleHistory::clear() {
  first_ = used_ = 0;
  stride_ = 1;
  samples_ = 0;
}

}  // namespace pingloom::collector::analytics
