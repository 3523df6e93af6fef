// Stamps: when a slot was written, in 1/16 s since its store was made. A stamp is never 0, which
// is an empty slot. They wrap after 8.5 years, and two are compared as serial numbers, so at most
// 4.2 years may lie between them. Pure functions; any thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/time.h"

namespace pingloom::store {

constexpr Nanos kStampTick = kSecond / 16;
constexpr std::uint32_t kStampPeriod = UINT32_MAX;  // stamps are 1 .. kStampPeriod

// A time before the store was made counts as when it was made.
constexpr std::uint32_t stampAt(Nanos utc, Nanos made) {
  const auto ticks = static_cast<std::uint64_t>(std::max<Nanos>(utc - made, 0) / kStampTick);
  return static_cast<std::uint32_t>(ticks % kStampPeriod) + 1;
}

// Ticks from `stamp` to `now`; negative if `stamp` is later. REQUIRES: neither is 0.
constexpr std::int64_t ticksBetween(std::uint32_t stamp, std::uint32_t now) {
  const std::uint32_t ahead = now >= stamp ? now - stamp : now + (kStampPeriod - stamp);
  return ahead <= kStampPeriod / 2 ? std::int64_t{ahead} : std::int64_t{ahead} - kStampPeriod;
}

// The time since the stamp; 0 if the stamp is in the future.
constexpr Nanos ageOf(std::uint32_t stamp, Nanos utc, Nanos made) {
  return std::max<std::int64_t>(ticksBetween(stamp, stampAt(utc, made)), 0) * kStampTick;
}

}  // namespace pingloom::store
