// Watches the pages of all agents: every interval a sample of every owner, on a thread of its own.
// The rest may be called by any thread. Bounds: kMaxSlots slots are watched, about 120 MB; owners
// beyond are counted. kMaxEvents events are kept.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/board.h"
#include "collector/exposition.h"
#include "collector/watch/owner_watch.h"

namespace pingloom::collector {

// The agent's address, its incarnation, and one of its owners: in another life it numbers them
// anew.
using OwnerKey = std::tuple<std::string, std::uint64_t, std::uint64_t>;

class Watcher {
 public:
  static constexpr std::size_t kMaxSlots = 200'000;
  static constexpr std::size_t kMaxEvents = 1000;

  Watcher(const Board& board, const WatchSettings& settings);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Keeps of the agent's pages those whose values are exported in this round, which begins with
  // the call: all of owners out of the usual, or not watched; of the others now and then.
  void keepExported(AgentView& agent, Nanos now);
  std::string metrics(Format format) const;
  std::vector<WatchEvent> events() const;  // the oldest first

 private:
  struct Entry {
    std::unique_ptr<OwnerWatch> watch;  // nullptr: not watched
    std::string host, application;
    std::uint32_t pid = 0;
    std::uint64_t owner = 0;  // the label's value; 0: it has none
    bool seen = false;        // in this round
  };
  void run();
  void observe();
  void observeAgent(const AgentView& agent);
  void forget(Entry& entry);  // what it has learned; its figures stay
  void log(WatchEvent event);

  const Board& board_;
  const WatchSettings settings_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;  // these: under the mutex
  std::map<OwnerKey, Entry> owners_;
  std::size_t slots_ = 0;
  std::deque<WatchEvent> events_;
  std::uint64_t limits_total_ = 0, anomalies_total_ = 0;
  std::uint64_t exported_ = 0, suppressed_ = 0;  // values of owners that are gone
  std::thread thread_;
};

}  // namespace pingloom::collector
