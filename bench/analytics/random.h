// Random numbers that are the same on every machine, except for the last digits of log, cos and
// exp. The standard library's distributions differ between implementations.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

namespace pingloom::bench {

// Steele, Lea and Flood's SplitMix64 with Box and Muller's normal numbers.
class Random {
 public:
  // The seed is mixed, because the generator adds a constant for each number: seeds that differ by
  // multiples of it begin at different places of one sequence.
  explicit Random(std::uint64_t seed) : state_(seed) { state_ = next(); }

  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

// A random walk of variance 1 that forgets within about `memory` samples.
class Wander {
 public:
  explicit Wander(double memory) : keep_(std::exp(-1 / memory)) {}
  double next(Random& random) {
    value_ = keep_ * value_ + std::sqrt(1 - keep_ * keep_) * random.normal();
    return value_;
  }

 private:
  double keep_;
  double value_ = 0;
};

}  // namespace pingloom::bench
