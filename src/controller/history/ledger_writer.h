// The ledger's own thread, so that a slow or full disk holds up nothing else. submit() hands
// batches over and takeOutcomes() returns what became of them; batches that wait together become
// one transaction. Between transactions the thread reads what restore() asks for, rolls up windows
// that are old enough and removes those that are too old.
//
// When a transaction fails, every batch that waits behind it fails too, and none is accepted until
// those outcomes have been taken and some time has passed, because a later batch of an agent must
// never be committed before an earlier one. Only the control thread calls. Bounds: kMaxWaitingBytes
// of batches, kMaxRestoredBytes of reports (one may go beyond).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/fd.h"
#include "controller/history/event_queue.h"
#include "controller/history/ledger.h"
#include "controller/model/board.h"

namespace pingloom::controller {

class LedgerWriter {
 public:
  static constexpr std::size_t kMaxWaitingBytes = 32U << 20;
  static constexpr std::size_t kMaxBatchesAtOnce = 256;  // in one transaction
  static constexpr std::size_t kMaxBytesAtOnce = 4U << 20;
  static constexpr std::size_t kMaxRestoredBytes = 1U << 20;
  static constexpr Nanos kStandstill = 3 * kSecond;
  static constexpr Nanos kRetry = kSecond;

  struct Outcome {
    std::string host;
    wire::BatchId id;
    bool committed = false;
    std::uint64_t rows = 0;
  };

  explicit LedgerWriter(std::unique_ptr<Ledger> ledger);
  ~LedgerWriter();  // commits the batches that wait
  LedgerWriter(const LedgerWriter&) = delete;
  LedgerWriter& operator=(const LedgerWriter&) = delete;

  // False: refused. Nothing of this agent may be submitted until ready() holds and the agent has
  // registered again.
  bool submit(LedgerBatch batch);
  // Whether there is room again, with a good distance to the bound.
  bool ready() const;
  // There is no room, but transactions go on, so waiting helps. It does not when the disk stands
  // still.
  bool busy() const;

  // These are written between batches.
  void record(std::vector<KeptEvent> events, std::vector<PresenceRecord> presence,
              std::vector<VerdictRecord> verdicts = {}, std::vector<SeverityRecord> severities = {},
              std::vector<CounterRecord> counters = {}, std::vector<PathChange> path_changes = {});

  // Starts to read the newest window of each place. Called once.
  void restore(std::vector<LedgerPlace> places);

  int descriptor() const { return event_.get(); }  // readable when outcomes or reports wait
  std::vector<Outcome> takeOutcomes();
  std::vector<LatestReport> takeRestored();  // those read since the last call
  HistoryStatus status() const;

 private:
  void run();
  // The lock is held for these four.
  std::vector<LedgerBatch> takeSome();
  bool standsStill() const;
  bool mayRead() const;
  void report(const std::vector<LedgerBatch>& batches, bool committed);
  void commit(std::vector<LedgerBatch> batches);
  void tryAgain();
  void readOne();
  void succeeded(const std::vector<LedgerBatch>& batches);
  void failed(std::vector<LedgerBatch> batches, const Error& error);
  void trim(std::size_t just_written);
  void rollUp(std::size_t just_written);
  void wakeOwner() const;

  std::unique_ptr<Ledger> ledger_;
  UniqueFd event_;
  EventQueue events_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<LedgerBatch> waiting_;
  std::size_t waiting_bytes_ = 0;  // includes those being committed
  Nanos progress_mono_ = 0;        // time of the last transaction, or of the first batch that waits
  std::vector<Outcome> outcomes_;
  std::vector<LedgerPlace> places_;  // still to be read, the next one last
  std::vector<LatestReport> restored_;
  std::size_t restored_bytes_ = 0;
  bool failing_ = false;  // nothing is accepted
  bool standstill_logged_ = false;
  Nanos retry_mono_ = 0;
  HistoryStatus status_;
  bool stop_ = false;

  // These belong to the ledger's thread.
  bool failure_logged_ = false;
  Nanos try_again_due_mono_ = 0;
  Nanos batch_failed_mono_ = 0;
  Nanos trim_due_mono_ = 0;
  Nanos roll_up_due_mono_ = 0;

  std::thread thread_;
};

}  // namespace pingloom::controller
