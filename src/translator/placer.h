// Places reports in the shadow. One thread; no call allocates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/time.h"
#include "translator/counters.h"
#include "translator/shadow.h"
#include "wire/report.h"

namespace pingloom::translator {

// When reports arrived.
struct Moment {
  Nanos mono = 0;
  Nanos utc = 0;
  std::uint32_t stamp = 0;  // of the store, never 0
};

class Placer {
 public:
  // REQUIRES: the counters outlive this.
  explicit Placer(Counters& counters) : counters_(counters) {}

  // Places the report, or says why it is refused. REQUIRES: its reader does not refuse it. Its
  // bytes and the shadow stay until finish().
  wire::ReportRefusal place(const wire::ReportItem& report, Shadow& shadow, const Moment& now);
  // Places the key-writes that still wait.
  void finish(std::uint32_t stamp);
  // Stores the paths whose missing hops are no longer waited for. Call it every 100 ms or so.
  void settlePaths(Shadow& shadow, const Moment& now);

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
  wire::ReportRefusal postcard(const wire::ReportItem& report, ShadowTable& table, Shadow& shadow,
                               const Moment& now);
  void addEntry(ShadowTable& table, std::uint32_t list, std::span<const std::uint8_t> entry);
  // Calls use(events) and counts what it says.
  template <typename Use>
  void withEvents(ShadowTable& table, Shadow& shadow, Nanos utc, Use use);
  static wire::ReportRefusal increment(const wire::ReportItem& report, ShadowTable& table);

  Counters& counters_;
  std::array<Pending, kMaxPending> pending_;
  std::size_t pending_count_ = 0;
};

}  // namespace pingloom::translator
