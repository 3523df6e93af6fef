// Numbers that only those who saw the packet can know: from the kernel, fetched by the page. One
// thread.
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
