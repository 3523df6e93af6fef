// What the translator is compared with: a collector that receives the same datagrams itself and
// places each report in two slots with its own CPU, as the published Key-Write with two copies.
// One thread. Memory: 32 bytes a slot.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "load.h"
#include "wire/report_reader.h"

namespace pingloom::bench {

class Direct {
 public:
  explicit Direct(std::uint64_t slots) : slots_(slots) {}

  // Returns the CPU time in nanoseconds for each report.
  double run(const Load& load);

 private:
  static constexpr std::size_t kSlotBytes = 32;
  struct Slot {
    std::uint32_t checksum = 0;  // of the key
    std::uint32_t length = 0;
    std::uint8_t value[kSlotBytes - 8] = {};
  };
  // A copy that is to be written. All of a datagram are located before the first is written, so
  // that their memory accesses overlap.
  struct Copy {
    Slot* slot = nullptr;
    std::uint32_t checksum = 0;
    std::span<const std::uint8_t> value;  // in the datagram
  };
  void locate(const wire::ReportItem& report);
  void writeAll();

  std::vector<Slot> slots_;
  std::vector<Copy> copies_;
  wire::ReportReader reader_;
};

}  // namespace pingloom::bench
