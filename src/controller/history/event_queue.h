// State changes, presence and verdicts on their way from the control thread to the ledger's thread.
// Bounds: kMaxWaiting records of each kind; while they cannot be written, the newest are dropped
// and counted.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "controller/history/ledger.h"
#include "controller/model/event_batch.h"
#include "controller/model/presence.h"

namespace pingloom::controller {

class EventQueue {
 public:
  static constexpr std::size_t kMaxWaiting = 20'000;
  static constexpr Nanos kRetry = kSecond;

  // Any thread may call these.
  void add(std::vector<KeptEvent> events, std::vector<PresenceRecord> presence,
           std::vector<VerdictRecord> verdicts = {});
  bool due(Nanos now_mono) const;
  std::uint64_t written() const;  // counts events
  std::uint64_t dropped() const;  // counts all kinds of records

  // Writes what is due, if anything. The ledger's thread calls it.
  void writeTo(Ledger& ledger, Nanos now_mono);

 private:
  mutable std::mutex mutex_;
  std::vector<KeptEvent> events_;
  std::vector<PresenceRecord> presence_;
  std::vector<VerdictRecord> verdicts_;
  Nanos retry_mono_ = 0;
  std::uint64_t written_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace pingloom::controller
