// Takes datagrams: checks them, counts them, and places their reports in the shadow. One thread; no
// allocation except for a new reporter.
#pragma once

#include <cstdint>
#include <span>

#include "common/address.h"
#include "common/time.h"
#include "translator/counters.h"
#include "translator/placer.h"
#include "translator/reporters.h"
#include "translator/shadow.h"
#include "wire/report_reader.h"

namespace pingloom::translator {

class Intake {
 public:
  // REQUIRES: the counters outlive this.
  explicit Intake(Counters& counters)
      : counters_(counters), reporters_(counters), placer_(counters) {}

  // The bytes and the source come from outside. `utc` is when they arrived.
  void take(std::span<const std::uint8_t> datagram, const SocketAddress& source, Shadow& shadow,
            Nanos now_mono, Nanos utc);
  Reporters& reporters() { return reporters_; }

 private:
  wire::ReportRefusal checkDatagram(std::span<const std::uint8_t> datagram,
                                    const SocketAddress& source, Nanos now_mono);
  Counters& counters_;
  Reporters reporters_;
  wire::ReportReader reader_;
  Placer placer_;
};

}  // namespace pingloom::translator
