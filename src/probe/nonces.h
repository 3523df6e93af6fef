// Random numbers that prove an answer's sender has seen the packet. The kernel makes them, and they
// are fetched 256 at a time. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pingloom::probe {

class Nonces {
 public:
  std::uint64_t next() {
    if (used_ == pool_.size()) refill();
    return pool_[used_++];
  }

 private:
  void refill();

  std::array<std::uint64_t, 256> pool_{};
  std::size_t used_ = 256;
};

}  // namespace pingloom::probe
