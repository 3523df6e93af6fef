// Takes datagrams: checks them, counts them, and places their reports in the shadow. One thread; no
// allocation except for a new reporter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/address.h"
#include "common/time.h"
#include "translator/counters.h"
#include "translator/reporters.h"
#include "translator/shadow.h"
#include "wire/report_reader.h"

namespace pingloom::translator {

class Intake {
 public:
  // REQUIRES: the counters outlive this.
  explicit Intake(Counters& counters) : counters_(counters), reporters_(counters) {}

  // The bytes and the source come from outside. `utc` is when they arrived.
  void take(std::span<const std::uint8_t> datagram, const SocketAddress& source, Shadow& shadow,
            Nanos now_mono, Nanos utc);
  Reporters& reporters() { return reporters_; }

 private:
  wire::ReportRefusal checkDatagram(std::span<const std::uint8_t> datagram,
                                    const SocketAddress& source, Nanos now_mono);
  // A key-write whose slot has been asked for and is not placed yet. Several are located before the
  // first is placed, so that their memory accesses overlap.
  struct Pending {
    ShadowTable* table = nullptr;
    store::KeyedWriter::Spot spot;
    std::span<const std::uint8_t> key, value;  // in the datagram
  };
  static constexpr std::size_t kMaxPending = 64;

  wire::ReportRefusal accept(Shadow& shadow);
  wire::ReportRefusal keyWrite(ShadowTable& table);
  void placePending(std::uint32_t stamp);

  Counters& counters_;
  Reporters reporters_;
  wire::ReportReader reader_;
  std::array<Pending, kMaxPending> pending_;
  std::size_t pending_count_ = 0;
};

}  // namespace pingloom::translator
