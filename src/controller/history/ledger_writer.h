// The ledger's own thread: a slow or full disk holds up nobody but it. Batches go in by submit(),
// their outcomes come back by takeOutcomes(); batches that wait together become one transaction.
// Between transactions it reads what restore() asks for, rolls up what is old enough and removes
// what is too old.
//
// When a transaction fails, everything that waits behind it fails with it, and nothing is accepted
// until those outcomes have been taken and some time has passed: a later batch of an agent must
// never be committed before an earlier one. The control thread alone calls. Bounds:
// kMaxWaitingBytes of batches, kMaxRestoredBytes of reports (one may go beyond).
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
  ~LedgerWriter();  // commits what waits
  LedgerWriter(const LedgerWriter&) = delete;
  LedgerWriter& operator=(const LedgerWriter&) = delete;

  // False: not now; nothing of this agent may be submitted before ready() and its new registration.
  bool submit(LedgerBatch batch);
  // Whether there is room again, well below the bound.
  bool ready() const;
  // No room, but it is getting on: worth waiting for. A disk that stands still is not.
  bool busy() const;

  // State changes and presence, written between batches.
  void record(std::vector<KeptEvent> events, std::vector<PresenceRecord> presence);

  // Reads the newest window of each of these; once.
  void restore(std::vector<LedgerPlace> places);

  int descriptor() const { return event_.get(); }  // readable when something is to be taken
  std::vector<Outcome> takeOutcomes();
  std::vector<LatestReport> takeRestored();  // what has been read since the last call
  HistoryStatus status() const;

 private:
  void run();
  std::vector<LedgerBatch> takeSome();  // with the lock held
  bool standsStill() const;             // likewise
  void commit(std::vector<LedgerBatch> batches);
  bool mayRead() const;  // with the lock held
  void readOne();
  void succeeded(const std::vector<LedgerBatch>& batches);
  void failed(std::vector<LedgerBatch> batches, const Error& error);
  void trim(std::size_t just_written);
  void rollUp(std::size_t just_written);
  void report(const std::vector<LedgerBatch>& batches, bool committed);  // with the lock held
  void wakeOwner() const;

  std::unique_ptr<Ledger> ledger_;
  UniqueFd event_;
  EventQueue events_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<LedgerBatch> waiting_;
  std::size_t waiting_bytes_ = 0;  // those being committed included
  Nanos progress_mono_ = 0;        // the last transaction, or when waiting began
  std::vector<Outcome> outcomes_;
  std::vector<LedgerPlace> places_;  // to be read, the next one last
  std::vector<LatestReport> restored_;
  std::size_t restored_bytes_ = 0;
  bool failing_ = false;  // nothing is accepted
  bool standstill_logged_ = false;
  Nanos retry_mono_ = 0;
  HistoryStatus status_;
  bool stop_ = false;

  // The ledger's thread.
  bool failure_logged_ = false;
  Nanos trim_due_mono_ = 0;
  Nanos roll_up_due_mono_ = 0;

  std::thread thread_;
};

}  // namespace pingloom::controller
