// What a translator has lost, skipped and refused since it started, by reporter. Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "wire/report.h"

namespace pingloom::translator {

struct Losses {
  std::uint64_t lost = 0;     // datagrams that never arrived
  std::uint64_t skipped = 0;  // reports that the reporter has dropped itself
  // By reason: datagrams where the reason refuses a datagram, otherwise reports.
  std::array<std::uint64_t, wire::kReportRefusals> refused{};

  void add(const Losses& other);
  std::uint64_t refusedInAll() const;
};

// The sums over all reporters are those of Counters. Bound: kMaxReporterSpecs entries of 176 bytes.
struct ReporterLosses {
  // The configured reporters, in the order of their numbers.
  std::vector<std::pair<std::uint32_t, Losses>> reporters;
  // All others, and the packets of the published DTA. Without `reporters:` nobody is configured.
  Losses other;

  // Adds what another thread has counted.
  void add(const ReporterLosses& more);
};

}  // namespace pingloom::translator
