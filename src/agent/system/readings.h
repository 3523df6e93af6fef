// What the parsers of the host's own metrics produce: values of families that are known at compile
// time. Plain values; one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pingloom::agent::system {

enum class Kind : std::uint8_t { kCounter, kGauge };

// All metrics of a name. Families are static objects, and readings point at them.
struct Family {
  static constexpr std::size_t kMaxLabels = 6;

  const char* name;
  const char* help;
  Kind kind = Kind::kGauge;
  std::array<const char*, kMaxLabels> labels{};  // the names; the rest is nullptr
  double unit = 1;                               // counters: the worth of 1 in the name's unit
  // Counters: a value that falls by at most so many units is not believed, because the kernel
  // computes some counters from several values that it reads one after the other.
  std::uint64_t jitter = 0;
};

struct Reading {
  const Family* family;
  std::array<std::string_view, Family::kMaxLabels> labels{};  // the values, as in the family
  std::uint64_t count = 0;                                    // of a counter
  double value = 0;                                           // of a gauge
};

// The readings of one round. The labels' values belong to whoever added them and must outlive the
// readings. clear() keeps the memory, so that later rounds allocate nothing.
struct Readings {
  using Values = std::array<std::string_view, Family::kMaxLabels>;

  std::vector<Reading> all;
  std::uint64_t malformed = 0;  // lines, since the beginning
  std::uint64_t left_out = 0;   // devices, mounts and cgroups beyond a bound, in this round

  void count(const Family& family, std::uint64_t units, const Values& labels = {}) {
    all.push_back({&family, labels, units, 0});
  }
  void gauge(const Family& family, double value, const Values& labels = {}) {
    all.push_back({&family, labels, 0, value});
  }
  void clear() {
    all.clear();
    left_out = 0;
  }
};

}  // namespace pingloom::agent::system
