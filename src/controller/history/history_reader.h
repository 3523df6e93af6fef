// The thread that reads history, so that neither the live view nor the ledger waits for the disk.
// Any thread may ask; a query is refused at once while kMaxWaiting others wait.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "common/error.h"
#include "controller/history/history.h"

namespace pingloom::controller {

class HistoryReader {
 public:
  static constexpr std::size_t kMaxWaiting = 64;
  // Receives the history, or the reason why it cannot be read.
  using Query = std::function<void(const Result<History*>&)>;

  explicit HistoryReader(HistoryPlace place);
  ~HistoryReader() { stop(); }
  HistoryReader(const HistoryReader&) = delete;
  HistoryReader& operator=(const HistoryReader&) = delete;

  // Runs the query once, on the reader's thread. False: it is refused.
  bool ask(Query query);
  // Reports how many blocks of an answer could not be read; only the first report is logged. Any
  // thread may call it.
  void reportDamaged(std::uint64_t blocks);
  // Waiting queries receive an error, and later ones are refused.
  void stop();

 private:
  // Identifies the file that is open, because a damaged one is moved aside and replaced.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    bool operator==(const Identity&) const = default;
  };

  void run();
  Result<History*> opened();
  // Forgets a history whose file was moved aside.
  Status follow();

  const HistoryPlace place_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Query> waiting_;
  bool stop_ = false;
  std::atomic<bool> damage_said_ = false;
  std::unique_ptr<History> history_;  // this and identity_ belong to the reader's thread
  Identity identity_;
  std::thread thread_;
};

}  // namespace pingloom::controller
