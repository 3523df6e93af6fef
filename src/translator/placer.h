// Places reports in the shadow. One thread; no call allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "translator/counters.h"
#include "translator/shadow.h"
#include "wire/report.h"

namespace pingloom::translator {

class Placer {
 public:
  // REQUIRES: the counters outlive this.
  explicit Placer(Counters& counters) : counters_(counters) {}

  // Places the report, or says why it is refused. REQUIRES: its reader does not refuse it. Its
  // bytes and the shadow stay until finish().
  wire::ReportRefusal place(const wire::ReportItem& report, Shadow& shadow, std::uint32_t stamp);
  // Places what still waits.
  void finish(std::uint32_t stamp);

 private:
  // A key-write whose slot has been asked for and is not placed yet. Several are located before the
  // first is placed, so that their memory accesses overlap.
  struct Pending {
    ShadowTable* table = nullptr;
    store::KeyedWriter::Spot spot;
    std::span<const std::uint8_t> key, value;  // in the datagram
  };
  static constexpr std::size_t kMaxPending = 64;

  wire::ReportRefusal keyWrite(const wire::ReportItem& report, ShadowTable& table,
                               std::uint32_t stamp);
  wire::ReportRefusal append(const wire::ReportItem& report, ShadowTable& table);
  static wire::ReportRefusal increment(const wire::ReportItem& report, ShadowTable& table);

  Counters& counters_;
  std::array<Pending, kMaxPending> pending_;
  std::size_t pending_count_ = 0;
};

}  // namespace pingloom::translator
