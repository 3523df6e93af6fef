// What a translator has counted since it started. A plain value. reporter_losses.h has what is
// counted by reporter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "common/time.h"
#include "wire/report.h"

namespace pingloom::translator {

struct Counters {
  std::uint64_t datagrams = 0;                                    // received, refused ones included
  std::array<std::uint64_t, wire::kReportOperations> accepted{};  // reports by operation
  // By reason: datagrams where the reason refuses a datagram, otherwise reports.
  std::array<std::uint64_t, wire::kReportRefusals> refused{};
  std::uint64_t lost = 0;       // datagrams that never arrived
  std::uint64_t skipped = 0;    // reports that reporters have dropped themselves
  std::uint64_t evicted = 0;    // keys that made room for others
  std::uint64_t dropped = 0;    // accepted entries of lists for which there was no room
  std::uint64_t asked = 0;      // requests for missing datagrams
  std::uint64_t replies = 0;    // credit, and requests for missing datagrams
  std::uint64_t overflow = 0;   // datagrams that the kernel dropped because its queue was full
  std::uint64_t reporters = 0;  // known now
  std::uint64_t published = 0;  // packets of the published DTA, refused ones included
  std::uint64_t published_lost = 0;

  std::uint64_t writes = 0;  // WRITEs posted, those that are repeated included
  std::uint64_t write_bytes = 0;
  std::uint64_t flushes = 0;
  Nanos flush_time = 0;  // of all of them, until the collector's memory had everything
  std::uint64_t connects = 0;
  std::uint64_t failures = 0;  // connections that failed or could not be made
  bool connected = false;

  // Adds what another thread has counted. They are connected if both are.
  void add(const Counters& other);
  void refuse(wire::ReportRefusal reason) { ++refused[static_cast<std::size_t>(reason)]; }
  std::uint64_t refusedInAll() const {
    return std::accumulate(refused.begin(), refused.end(), std::uint64_t{0});
  }
};

}  // namespace pingloom::translator
