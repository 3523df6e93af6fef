// The collector's state for its readers: the values of pages as they were last read completely. An
// agent's reader thread writes that agent's part, and readers copy it; neither waits for more than
// a copy. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/family_names.h"
#include "collector/page_directory.h"
#include "collector/page_reader.h"
#include "collector/sampling_advice.h"
#include "common/time.h"

namespace pingloom::collector {

enum class PageState : std::uint8_t {
  kUnread,   // not read yet
  kFresh,    // the values are those of the last round
  kStale,    // read, but without a heartbeat of its owner for kStaleAfter
  kTorn,     // each read was torn: the values are older, consistent ones
  kCorrupt,  // its header is invalid: the values are older ones
};
constexpr std::string_view name(PageState state) {
  constexpr std::array<std::string_view, 5> kNames = {"unread", "fresh", "stale", "torn",
                                                      "corrupt"};
  return kNames[static_cast<std::size_t>(state)];
}
constexpr Nanos kStaleAfter = 5 * kSecond;

struct PageView {
  std::shared_ptr<const PageInfo> info;
  // One for each metric of the schema.
  std::vector<std::shared_ptr<const FamilyName>> families;
  PageState state = PageState::kUnread;
  Nanos read = 0;  // when the values were read, monotonic
  std::uint32_t slots = 0;
  std::vector<std::uint64_t> values;  // values of the first `slots` slots
  // Which metrics of the schema have come since the values were read, whose slots may have been
  // others' then. It is empty if there are none.
  std::vector<bool> unread;

  // Tells whether the values contain that of a metric, given by its index in the schema. The owner
  // publishes its slots after it has defined them.
  bool has(std::size_t index) const {
    const pages::Metric& metric = info->schema[index];
    return metric.first_slot + metric.slots <= slots && (unread.empty() || !unread[index]);
  }
};

enum class LinkState : std::uint8_t { kConnecting, kReading, kFailed };
constexpr std::string_view name(LinkState state) {
  constexpr std::array<std::string_view, 3> kNames = {"connecting", "reading", "failed"};
  return kNames[static_cast<std::size_t>(state)];
}

struct AgentCounters {
  ReadCounters reading;
  std::uint64_t rounds = 0;
  std::uint64_t rounds_late = 0;  // rounds delayed because the previous one took too long
  std::uint64_t torn = 0;         // pages torn in every try
  std::uint64_t corrupt = 0;
  std::uint64_t foreign = 0;  // pages whose header names another generation
  std::uint64_t stale = 0;    // pages that became stale
  std::uint64_t connects = 0;
  std::uint64_t failures = 0;     // failures of link or endpoint
  std::uint64_t directories = 0;  // directory answers applied
  std::uint64_t bad_answers = 0;
};

struct AgentView {
  std::string agent;  // HOST:PORT of its control channel
  std::string host;   // its host id, once known
  std::uint64_t incarnation = 0;
  LinkState state = LinkState::kConnecting;
  std::string problem;   // why it is not read; "" if it is
  Nanos last_round = 0;  // the end of the last round, monotonic; 0 if none yet
  Nanos interval = 0;
  std::vector<PageView> pages;  // ordered by place
  AgentCounters counters;
  std::vector<LeftOutPage> left_out;
};

// Gives a page of the agent its info, and its metrics' families their names. Values that the page
// has stay those of the metrics that they were read for.
void setInfo(const AgentView& agent, PageView& page, std::shared_ptr<const PageInfo> info,
             FamilyNames& names);

// One agent's part.
class BoardEntry {
 public:
  explicit BoardEntry(std::shared_ptr<FamilyNames> names = std::make_shared<FamilyNames>())
      : names_(std::move(names)) {}
  FamilyNames& names() const { return *names_; }
  SamplingAdvice& advice() const { return *advice_; }
  void update(const std::function<void(AgentView&)>& change);
  AgentView copy() const;
  // Returns a copy without the pages, because their values are expensive to copy.
  AgentView head() const;

 private:
  const std::shared_ptr<FamilyNames> names_;
  const std::unique_ptr<SamplingAdvice> advice_ = std::make_unique<SamplingAdvice>();
  mutable std::mutex mutex_;
  AgentView view_;
};

class Board {
 public:
  // Adds an entry, which replaces another one of that agent.
  std::shared_ptr<BoardEntry> add(const std::string& agent);
  // Removes an entry, unless it has been replaced: one thread may take an agent on before another
  // one has let go of it.
  void remove(const std::shared_ptr<BoardEntry>& entry);
  // Returns the entries ordered by name. An entry that is removed meanwhile stays unchanged.
  std::vector<std::shared_ptr<const BoardEntry>> entries() const;

 private:
  const std::shared_ptr<FamilyNames> names_ = std::make_shared<FamilyNames>();
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<BoardEntry>> entries_;
};

}  // namespace pingloom::collector
