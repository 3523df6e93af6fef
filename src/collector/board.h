// What the collector knows of its agents, for those who show it: values of pages as they were last
// read whole. Each agent's part is written by its reader thread, and copied by whoever asks;
// neither waits for more than a copy. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "collector/page_directory.h"
#include "collector/page_reader.h"
#include "common/time.h"

namespace pingloom::collector {

enum class PageState : std::uint8_t {
  kUnread,   // not read yet
  kFresh,    // the values are its owner's of the last round
  kStale,    // read, but its owner has given no sign of life for kStaleAfter
  kTorn,     // written whenever it was read: the values are older ones, undivided
  kCorrupt,  // its header is not one: the values are older ones
};
constexpr std::string_view name(PageState state) {
  constexpr std::array<std::string_view, 5> kNames = {"unread", "fresh", "stale", "torn",
                                                      "corrupt"};
  return kNames[static_cast<std::size_t>(state)];
}
constexpr Nanos kStaleAfter = 5 * kSecond;

struct PageView {
  std::shared_ptr<const PageInfo> info;
  PageState state = PageState::kUnread;
  Nanos read = 0;  // monotonic: when the values were read
  std::uint32_t slots = 0;
  std::vector<std::uint64_t> values;  // of the first `slots` slots
};

enum class LinkState : std::uint8_t { kConnecting, kReading, kFailed };
constexpr std::string_view name(LinkState state) {
  constexpr std::array<std::string_view, 3> kNames = {"connecting", "reading", "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

struct AgentCounters {
  ReadCounters reading;
  std::uint64_t rounds = 0;
  std::uint64_t rounds_late = 0;  // begun when the one before had not ended in time
  std::uint64_t torn = 0;         // pages, after all tries
  std::uint64_t corrupt = 0;
  std::uint64_t foreign = 0;  // pages whose header names another generation
  std::uint64_t stale = 0;    // pages that became stale
  std::uint64_t connects = 0;
  std::uint64_t failures = 0;     // of link or endpoint
  std::uint64_t directories = 0;  // answers taken
  std::uint64_t bad_answers = 0;
};

struct AgentView {
  std::string agent;  // HOST:PORT of its control channel
  std::string host;   // its id, once it has said so
  std::uint64_t incarnation = 0;
  LinkState state = LinkState::kConnecting;
  std::string problem;   // why it is not read; "" where it is
  Nanos last_round = 0;  // monotonic, its end; 0: none yet
  Nanos interval = 0;
  std::vector<PageView> pages;  // by place
  AgentCounters counters;
  std::vector<LeftOutPage> left_out;
};

// One agent's part.
class BoardEntry {
 public:
  void update(const std::function<void(AgentView&)>& change);
  AgentView copy() const;
  // Without the pages, whose values are what a copy costs.
  AgentView head() const;

 private:
  mutable std::mutex mutex_;
  AgentView view_;
};

class Board {
 public:
  std::shared_ptr<BoardEntry> add(const std::string& agent);
  void remove(const std::string& agent);
  // By the agents' names. An entry that is removed meanwhile stays as it was.
  std::vector<std::shared_ptr<const BoardEntry>> entries() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<BoardEntry>> entries_;
};

}  // namespace pingloom::collector
