// Changes of states and paths, presence, verdicts, severities and moved counters on their way from
// the control thread to the ledger's thread. Bounds: kMaxWaiting records of each kind. While they
// cannot be written, the newest are dropped and counted; of the severities the oldest, so that what
// is in force at the end is known. A record in their place says that nothing is known of their
// source for that time; there are at most kMaxUnknown of these.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "controller/history/ledger.h"
#include "controller/model/event_batch.h"
#include "controller/model/path_change.h"
#include "controller/model/presence.h"
#include "controller/model/severity_record.h"

namespace pingloom::controller {

class EventQueue {
 public:
  static constexpr std::size_t kMaxWaiting = 20'000;
  static constexpr std::size_t kMaxUnknown = 100'000;
  static constexpr Nanos kRetry = kSecond;

  // Any thread may call these.
  void add(std::vector<KeptEvent> events, std::vector<PresenceRecord> presence,
           std::vector<VerdictRecord> verdicts = {}, std::vector<SeverityRecord> severities = {},
           std::vector<CounterRecord> counters = {}, std::vector<PathChange> path_changes = {});
  bool due(Nanos now_mono) const;
  std::uint64_t written() const;  // counts events
  std::uint64_t dropped() const;  // counts all kinds of records

  // Writes what is due, if anything. The ledger's thread calls it.
  void writeTo(Ledger& ledger, Nanos now_mono);

 private:
  // Since when the severities of a probe's source are unknown, because records were dropped.
  using Unknown = std::map<std::pair<std::string, IpAddress>, Nanos>;

  void addSeverities(std::vector<SeverityRecord> more);  // the lock is held

  mutable std::mutex mutex_;
  std::vector<KeptEvent> events_;
  std::vector<PresenceRecord> presence_;
  std::vector<VerdictRecord> verdicts_;
  std::vector<SeverityRecord> severities_;
  Unknown unknown_;
  std::vector<CounterRecord> counters_;
  std::vector<PathChange> path_changes_;
  Nanos retry_mono_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace pingloom::controller
