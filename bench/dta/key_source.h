// Which keys the reports of a load have. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace pingloom::bench {

enum class Spread : std::uint8_t {
  kUniform,
  kZipf,    // the n-th key comes as often as 1/n of the first
  kInTurn,  // each key once, and again from the first
};

// A key as switches report it: protocol, two IPv4 addresses and two ports.
using FlowKey = std::array<std::uint8_t, 13>;
FlowKey flowKey(std::uint32_t number);

// Draws the numbers of keys, from 0, by a fixed seed. Memory: 8 bytes for each key of kZipf.
class KeySource {
 public:
  // REQUIRES: keys > 0.
  KeySource(std::uint32_t keys, Spread spread, std::uint64_t seed);
  std::uint32_t next();

 private:
  std::uint32_t keys_;
  Spread spread_;
  std::uint32_t last_;          // of kInTurn
  std::vector<double> shares_;  // of kZipf: the sum of the shares of this key and those before
  std::mt19937_64 random_;
};

}  // namespace pingloom::bench
