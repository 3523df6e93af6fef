// Hashes of numbers that are the same on every machine, unlike std::hash: steps and finalizer of
// splitmix64 (Steele, Lea, Flood, OOPSLA 2014). Every bit of a result depends on every bit of the
// arguments. Pure; any thread.
#pragma once

#include <cstdint>

namespace pingloom::plan {

constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t number = a * 0x9E3779B97F4A7C15 + b;
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EB;
  return number ^ (number >> 31);
}
constexpr std::uint64_t mix(std::uint64_t number) { return mix(1, number); }

}  // namespace pingloom::plan
