// Takes datagrams: checks who sent them, counts them, and places their reports in the shadow. One
// thread; no allocation except for a new reporter.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "translator/counters.h"
#include "translator/loss_ledger.h"
#include "translator/placer.h"
#include "translator/published_sources.h"
#include "translator/reporter_rules.h"
#include "translator/reporters.h"
#include "translator/shadow.h"
#include "wire/report_reader.h"

namespace pingloom::translator {

class Intake {
 public:
  // Without rules everybody on this host may report. `buffer_bytes` is the size of the socket's
  // queue. REQUIRES: the counters outlive this.
  Intake(Counters& counters, std::size_t buffer_bytes)
      : counters_(counters),
        rules_(std::make_unique<ReporterRules>(ReporterSpecs{})),
        reporters_(counters, losses_, buffer_bytes),
        placer_(counters) {}

  // The rules apply to datagrams from now on.
  void setRules(std::unique_ptr<ReporterRules> rules);
  const ReporterRules& rules() const { return *rules_; }
  // Finds the tables that the rules name, and logs those that the store does not have, as soon as
  // it is known. It costs nothing while rules and store are the same.
  void learn(const store::Head& head) { rules_->learn(head); }

  // The bytes and the source come from outside. `utc` is when they arrived.
  void take(std::span<const std::uint8_t> datagram, const SocketAddress& source, Shadow& shadow,
            Nanos now_mono, Nanos utc);
  // The same for a packet of the published DTA.
  void takePublished(std::span<const std::uint8_t> packet, const SocketAddress& source,
                     PublishedSources& sources, Shadow& shadow, Nanos now_mono, Nanos utc);
  // Stores the paths whose missing hops are no longer waited for.
  void settlePaths(Shadow& shadow, Nanos now_mono, Nanos utc);
  Reporters& reporters() { return reporters_; }
  LossLedger& losses() { return losses_; }

 private:
  // Returns the rule of the reporter, or why the datagram is refused.
  tl::expected<const ReporterRule*, wire::ReportRefusal> checkDatagram(
      std::span<const std::uint8_t> datagram, const SocketAddress& source, Nanos now_mono);
  wire::ReportRefusal checkPublished(std::span<const std::uint8_t> packet, const IpAddress& source,
                                     PublishedSources& sources, wire::PublishedReport& out);
  void refuse(const Refused& refused);
  void refuseDatagram(wire::ReportRefusal reason, const SocketAddress& source);

  Counters& counters_;
  std::unique_ptr<ReporterRules> rules_;  // never nullptr
  LossLedger losses_;
  Reporters reporters_;
  wire::ReportReader reader_;
  Placer placer_;
};

}  // namespace pingloom::translator
