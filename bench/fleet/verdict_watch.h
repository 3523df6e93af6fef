// Watches whether some controller judges all pairs, and measures for how long none did.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "common/time.h"
#include "shared/controller_process.h"

namespace pingloom::bench {

class VerdictWatch {
 public:
  // REQUIRES: the controllers run and outlive it.
  VerdictWatch(std::vector<const ControllerProcess*> watched, std::uint64_t pairs);
  VerdictWatch(const VerdictWatch&) = delete;
  VerdictWatch& operator=(const VerdictWatch&) = delete;
  ~VerdictWatch() { end(); }

  // Ends it and returns the longest time without a verdict on all pairs.
  Nanos end();

 private:
  void run();

  const std::vector<const ControllerProcess*> watched_;
  const std::uint64_t pairs_;
  Nanos longest_ = 0;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace pingloom::bench
