// Watches the pages of all agents. Its thread takes a sample of every owner at each interval; any
// thread may call the rest. An owner with more features than one OwnerWatch takes is watched in
// several groups of its pages, each with a detector of its own. What is known about an application
// outlives its restarts (watch_shelf.h), and those of the collector (watch_file.h): a thread of its
// own saves it every kSaveEvery, and the destructor once more. Bounds: kMaxFeatures features are
// watched (about 200 MB), and groups beyond that are only counted; kMaxHistoryFeatures have a
// history (about 180 MB more), and groups beyond that no learned model; kMaxSeasons groups have a
// season (about 60 MB, and 72 bytes for each feature); kMaxEvents events are kept.
//
// Models are fitted on the same thread, in slices of a few milliseconds and for a share of its
// time (fit_budget.h), one group after the other. So a model has one owner, and neither readers nor
// HTTP wait.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "collector/board.h"
#include "collector/exposition.h"
#include "collector/watch/fit_budget.h"
#include "collector/watch/owner_watch.h"
#include "collector/watch/peer_watch.h"
#include "collector/watch/watch_file.h"
#include "collector/watch/watch_shelf.h"

namespace pingloom::collector {

// The agent's address, its incarnation, the number of one of its owners, and that of a group of the
// owner's pages. The incarnation is needed because a restarted agent assigns numbers again.
using GroupKey = std::tuple<std::string, std::uint64_t, std::uint64_t, std::size_t>;

class Watcher {
 public:
  static constexpr std::size_t kMaxFeatures = 200'000;
  static constexpr std::size_t kMaxEvents = 1000;
  static constexpr std::size_t kMaxHistoryFeatures = 10'000;
  static constexpr std::size_t kMaxSeasons = 10'000;
  static constexpr Nanos kSaveEvery = 10 * kMinute;

  // `file` keeps what is known; if it is empty, nothing is kept.
  Watcher(const Board& board, const WatchSettings& settings, std::filesystem::path file = {});
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Changes the settings. Owners whose own settings change are learned anew. Those of the
  // comparison with peers do not count, because it applies them to what it knows.
  void reload(const WatchSettings& settings);
  // Begins a round and keeps only those pages whose values it exports: all pages of owners that are
  // anomalous or not watched, and pages of the others from time to time.
  void keepExported(AgentView& agent, Nanos now);
  void metrics(MetricsWriter& out) const;
  std::vector<WatchEvent> events() const;  // oldest first
  // Returns the anomalies of an agent's applications that metrics explain.
  std::vector<Anomaly> anomalies(const AgentView& agent) const;
  // Returns the state of each of the agent's owners that is watched, by its number.
  std::map<std::uint64_t, WatchState> states(const AgentView& agent) const;
  std::uint64_t eventsLogged() const;  // since the start; grows with each event
  ApplicationState stateOf(const std::string& application) const;
  // Out of so many traces a tracer keeps one while nothing is anomalous.
  std::uint32_t traceOneIn() const;

 private:
  struct Entry {
    std::unique_ptr<OwnerWatch> watch;  // nullptr if it is not watched
    std::string host, application;
    std::uint32_t pid = 0;
    std::uint64_t owner = 0;  // its number at the agent
    bool numbered = false;    // whether its series have the label `owner`
    bool seen = false;        // whether it was seen in this round
    bool refused = false;     // whether it cannot be watched
    int unread = 0;           // rounds since it took a sample, or was refused
  };
  void run();
  void observe();
  void fitModels();
  bool fitSlice();
  bool observeAgent(const AgentView& agent, bool make);
  bool observeGroup(Entry& entry, const PagesOfOwner& pages, std::size_t number, bool make);
  bool makeRoom(std::size_t features);
  void makeWatch(Entry& entry, const PagesOfOwner& pages, std::size_t number);
  std::optional<WatchMemory> memoryOf(Entry& entry, std::size_t number);
  static Shelved shelve(const Entry& entry, OwnerWatch& watch, Nanos now);
  void takeSample(Entry& entry, const PagesOfOwner& pages);
  void endRound();
  void comparePeers();
  void adviseTracers(const std::vector<std::shared_ptr<const BoardEntry>>& agents) const;
  void log(const Entry& entry, std::vector<WatchEvent> events);
  // Takes the watch out of it; its counters stay.
  std::unique_ptr<OwnerWatch> remove(Entry& entry);
  void load();
  void putBack(std::vector<std::pair<ShelfKey, Shelved>> records);
  void saveRegularly();
  void save();
  Status saveGroups(WatchFileWriter& file);
  std::vector<GroupKey> groupKeys() const;
  std::optional<std::pair<ShelfKey, Shelved>> groupMemory(const GroupKey& key);

  const Board& board_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  WatchSettings settings_;  // guarded by the mutex, like the members below
  bool stop_ = false;
  std::map<GroupKey, Entry> groups_;
  std::size_t features_ = 0, history_features_ = 0;  // without those on the shelf
  std::size_t seasons_ = 0;
  WatchShelf shelf_;
  PeerWatch peers_;
  GroupKey fitted_;       // the group whose model was fitted last
  FitBudget fit_budget_;  // of the thread that watches
  std::deque<WatchEvent> events_;
  std::uint64_t limits_total_ = 0, anomalies_total_ = 0, logged_ = 0;
  std::uint64_t exported_ = 0, suppressed_ = 0;  // values of owners that are gone
  const std::filesystem::path file_;
  bool save_failed_ = false;  // of the thread that saves, like file_
  Nanos saved_utc_ = 0;       // 0: not yet
  std::uint64_t saves_failed_ = 0;
  std::thread thread_;
  std::thread saver_;
};

}  // namespace pingloom::collector
