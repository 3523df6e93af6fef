// The thread that reads history, so that neither the live view nor the ledger waits for it. Any
// thread may ask; who asks while kMaxWaiting others wait is refused at once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
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
  // Gets the history, or why it cannot be read.
  using Query = std::function<void(const Result<History*>&)>;

  explicit HistoryReader(std::filesystem::path file);
  ~HistoryReader() { stop(); }
  HistoryReader(const HistoryReader&) = delete;
  HistoryReader& operator=(const HistoryReader&) = delete;

  // Runs on the reader's thread, once. False: not taken.
  bool ask(Query query);
  // So many blocks of an answer could not be read: said once. Any thread.
  void reportDamaged(std::uint64_t blocks);
  // Queries that wait are told that it cannot be read any more, and none is taken from then on.
  void stop();

 private:
  // Which file it is that has been opened: a damaged one is moved aside and begun anew.
  struct Identity {
    std::uint64_t device = 0;
    std::uint64_t number = 0;
    bool operator==(const Identity&) const = default;
  };

  void run();
  Result<History*> opened();

  const std::filesystem::path file_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Query> waiting_;
  bool stop_ = false;
  std::atomic<bool> damage_said_ = false;
  std::unique_ptr<History> history_;  // these two: the reader's thread
  Identity identity_;
  std::thread thread_;
};

}  // namespace pingloom::controller
