#include "collector/analytics/known_jumps.h"

#include <algorithm>
#include <cmath>

namespace pingloom::collector::analytics {
namespace {

constexpr std::int64_t kDay = 1440;            // minutes
constexpr std::int64_t kForgotten = 8 * kDay;  // minutes without it
constexpr std::int64_t kEnds = 5;              // minutes without an unusual sample
constexpr float kEvidence = 5;                 // alarm.h: as for an anomaly, by default
constexpr std::uint8_t kMaxTimes = 100;
constexpr float kMaxSize = 1e6F;
constexpr std::int64_t kMaxMinute = 1'000'000'000;  // far beyond all that clocks show

// How far from each other two minutes are as times of the day.
std::int64_t apart(std::int64_t one, std::int64_t other) {
  const std::int64_t between = std::abs(one - other) % kDay;
  return std::min(between, kDay - between);
}

// Whether a jump may come again after so many minutes: a weekend or a week later, too.
bool regular(std::int64_t minutes) {
  const std::int64_t days = (minutes + kDay / 2) / kDay;
  return (days >= 1 && days <= 3) || days == 7;
}

}  // namespace

LoadJumps KnownJumps::at(std::int64_t minute) const {
  LoadJumps found;
  for (const Jump& jump : jumps_) {
    const std::int64_t since = minute - jump.minute;
    const bool comes = jump.times >= kKnownTimes && since >= 0 && since <= kForgotten &&
                       apart(minute, jump.minute) <= kEarlier;
    if (!comes) continue;
    found.lowest = std::min(found.lowest, kLarger * jump.size);
    found.highest = std::max(found.highest, kLarger * jump.size);
  }
  return found;
}

void KnownJumps::observe(std::int64_t minute, double jump, double score) {
  const bool unusual = score > 1;
  const bool same = (jump > 0) == (size_ > 0);
  if (samples_ > 0 && (minute - last_ > kEnds || minute < last_ || (unusual && !same))) {
    learn();
    samples_ = 0;
  }
  if (unusual && samples_ == 0) {
    began_ = minute;
    size_ = evidence_ = 0;
  }
  // What has been enough once stays so until the jump ends.
  if (evidence_ < kEvidence) {
    const auto more = static_cast<float>(std::clamp(score - 1, -1.0, 1.0));
    evidence_ = std::clamp(evidence_ + more, 0.0F, kEvidence);
  }
  if (!unusual) return;
  const auto size = static_cast<float>(std::clamp<double>(jump, -kMaxSize, kMaxSize));
  if (std::abs(size) > std::abs(size_)) size_ = size;
  last_ = minute;
  ++samples_;
}

// One that is known is not the same as one that is far larger: an outage at the time of a job.
void KnownJumps::learn() {
  if (evidence_ < kEvidence) return;
  for (Jump& jump : jumps_) {
    const bool same = jump.times > 0 && (jump.size > 0) == (size_ > 0) &&
                      apart(began_, jump.minute) <= kEarlier &&
                      (jump.times < kKnownTimes || size_ / jump.size <= kLarger);
    if (!same) continue;
    const std::int64_t since = began_ - jump.minute;
    if (std::abs(since) < kDay / 2) return;  // it has come twice on a day
    const double ratio = size_ / jump.size;
    const bool alike = jump.times >= kKnownTimes || (ratio <= kLarger && ratio >= 1 / kLarger);
    jump.times = regular(since) && alike ? std::min<std::uint8_t>(jump.times + 1, kMaxTimes)
                                         : std::uint8_t{1};
    jump.size = jump.times < kKnownTimes ? size_ : (jump.size + size_) / 2;
    jump.minute = began_;
    return;
  }
  const auto least =
      std::min_element(jumps_.begin(), jumps_.end(), [&](const Jump& a, const Jump& b) {
        const auto worth = [&](const Jump& jump) {
          return std::pair(std::abs(began_ - jump.minute) <= kForgotten ? jump.times : 0,
                           jump.minute);
        };
        return worth(a) < worth(b);
      });
  *least = {began_, size_, 1};
}

void KnownJumps::Jump::state(StateArchive& archive) {
  archive(minute, size, times);
  archive.require(std::abs(size) <= kMaxSize && times <= kMaxTimes &&
                  std::abs(minute) <= kMaxMinute);
}

void KnownJumps::state(StateArchive& archive) {
  archive(jumps_, began_, last_, size_, evidence_, samples_);
  archive.require(std::abs(size_) <= kMaxSize && evidence_ >= 0 && evidence_ <= kEvidence &&
                  std::abs(began_) <= kMaxMinute && std::abs(last_) <= kMaxMinute);
}

}  // namespace pingloom::collector::analytics
