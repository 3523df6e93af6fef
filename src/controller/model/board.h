// The board: what the controller knows right now, as immutable snapshots. The control thread alone
// publishes; Redis, HTTP and history read from threads of their own. Pointers are swapped under a
// short lock; nothing that hangs on one is ever changed.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "common/address.h"
#include "common/distribution.h"
#include "common/page_owner.h"
#include "common/time.h"
#include "common/vocabulary.h"
#include "controller/model/report_faults.h"
#include "net/peer_gate.h"
#include "pinglist/pinglist.h"
#include "plan/endpoint.h"
#include "plan/plan.h"

namespace pingloom::controller {

// The latest window of one pair. A part with count 0 was not measured.
struct Row {
  std::uint32_t sent = 0;
  std::uint32_t received = 0;
  std::uint32_t lost = 0;
  std::uint32_t refused = 0;
  std::uint32_t unreachable = 0;
  std::uint32_t ack_lost = 0;
  std::uint32_t duplicate = 0;
  std::uint32_t late = 0;
  std::array<std::uint32_t, kAnomalies> anomalous{};
  Summary network;
  Summary responder;
  Summary prober;
  Summary rtt;
  std::optional<std::uint64_t> jitter_ns;
};

constexpr std::array<std::uint32_t Row::*, 8> kRowCounts = {
    &Row::sent,        &Row::received, &Row::lost,      &Row::refused,
    &Row::unreachable, &Row::ack_lost, &Row::duplicate, &Row::late};
// The parts that have samples.
constexpr std::array<Summary Row::*, 4> kRowParts = {&Row::network, &Row::responder, &Row::prober,
                                                     &Row::rtt};

// One for each of ProbeGrid::destinations. A pair the source does not probe (itself, the other
// address family) and one without a window yet have sent == 0 and no row.
using Rows = std::vector<Row>;

// All rows of one probe at one source.
struct SourceRows {
  std::uint64_t incarnation = 0;  // of the agent that measured the newest window
  std::uint64_t window_index = 0;
  Nanos window_start_utc = 0;
  Nanos window = 0;
  Nanos reported_utc = 0;  // when the controller had it first; Redis counts the expiry from here
  ClockSource clock = ClockSource::kKernel;
  std::string device;
  Rows rows;  // of all paths together
  // Where the probe has several paths: [k - 1] is path k; nullptr: nothing of it in this window
  // yet.
  std::vector<std::shared_ptr<const Rows>> paths;

  Nanos endUtc() const { return window_start_utc + window; }
  const Rows* ofPath(std::uint32_t path) const {  // 0: of all together
    if (path == 0) return &rows;
    return path <= paths.size() ? paths[path - 1].get() : nullptr;
  }
};

using States = std::vector<std::optional<PairState>>;  // nullopt: not a pair, or a path without row

// The rows with the states derived from them; states change without new rows (agent-down, stale).
struct SourceSnapshot {
  std::shared_ptr<const SourceRows> rows;  // nullptr: no window yet
  States states;
  std::vector<States> path_states = {};  // [k - 1]: of SourceRows::paths; empty where it has none

  bool operator==(const SourceSnapshot&) const = default;  // rows: the same object
  const States& statesOf(std::uint32_t path) const {       // path 0: `states`
    static const States none;
    if (path == 0) return states;
    return path <= path_states.size() ? path_states[path - 1] : none;
  }
};

struct ProbeGrid {
  plan::ProbeSpec spec;
  plan::AddressList sources;
  plan::AddressList destinations;
  pinglist::Thresholds thresholds = {};

  // 0 where there is one only.
  std::uint32_t paths() const { return spec.paths > 1 ? spec.paths : 0; }
};

// The shape of everything; `generation` grows with every pinglist that comes into force.
struct GridPlan {
  std::uint64_t generation = 0;
  std::uint64_t hash = 0;
  std::shared_ptr<const pinglist::Pinglist> pinglist;
  std::vector<ProbeGrid> probes;

  // What the pinglist calls it; the address itself where it has no name.
  std::string nameOf(const IpAddress& address) const {
    return pinglist == nullptr ? address.text() : pinglist->nameOf(address);
  }
};

struct AgentEndpoint {
  plan::Endpoint endpoint;
  Nanos since_utc = 0;  // 0: no other one is known
};

struct AgentInfo {
  std::string host;
  std::vector<IpAddress> addresses;
  std::vector<AgentEndpoint> endpoints;  // RDMA; at most one for each address
  std::uint16_t port = 0;
  std::uint64_t incarnation = 0;
  std::string software_version;
  std::string public_key;              // of its connection; "": it is not encrypted
  std::optional<SocketAddress> pages;  // where collectors ask for its metric pages
  bool alive = false;
  Nanos first_seen_utc = 0;
  Nanos last_seen_utc = 0;
  std::uint64_t plan_hash = 0;  // the plan it says it holds; 0: none
  bool plan_current = false;    // which is the one in force
  std::uint64_t spooled_batches = 0;
  std::uint64_t spooled_bytes = 0;
  std::uint64_t spool_dropped = 0;
  std::uint64_t pings_sent = 0;
  std::uint64_t pings_skipped = 0;
  std::uint64_t stalls = 0;
  std::uint64_t refused_packets = 0;
  std::shared_ptr<const PageOwners> page_owners;  // nullptr: none
};
using Hosts = std::vector<AgentInfo>;  // by host

struct RedisStatus {
  std::string target;  // "unix:/run/..." or "tcp:host:port"
  bool connected = false;
  std::string last_error;  // "" while connected
  std::uint64_t rows_written = 0;
  std::uint64_t reconnects = 0;
  std::uint64_t events_dropped = 0;
};

struct HistoryStatus {
  bool writing = false;
  std::string last_error;
  std::uint64_t windows_written = 0;
  std::uint64_t blocks_dropped = 0;  // that could not be read any more when they were rolled up
  std::uint64_t bytes = 0;           // of the database file
  std::uint64_t events_written = 0;  // lines of changed states
  std::uint64_t events_dropped = 0;  // that the disk did not take in time
};

struct KeysStatus {
  std::size_t authorized = 0;
  bool newest_in_force = true;  // the file on disk is the one in force
  net::PeerRefusals refused{};  // at the control port
};

struct ControlStatus {
  Nanos started_utc = 0;
  std::string pinglist_path;
  Nanos pinglist_loaded_utc = 0;
  std::string pinglist_error;  // the last rejection, "" when the file in force is the newest one
  std::uint64_t pinglist_reloads = 0;
  std::uint64_t pinglist_rejections = 0;
  std::uint64_t batches_committed = 0;
  std::uint64_t batches_duplicate = 0;
  std::uint64_t batches_shown = 0;  // ahead of their turn, or not committed yet
  std::uint64_t rows_committed = 0;
  std::uint64_t rows_ignored = 0;  // of pairs that left the plan, or older than what is known
  std::uint64_t messages_refused = 0;
  std::array<std::uint64_t, 7> refused_by_reason{};  // indexed by wire::Refused::Reason
  ReportFaults reports_refused{};
  std::optional<KeysStatus> keys;  // none: without keys
  HistoryStatus history;
};

struct StateEvent {
  Nanos utc = 0;
  std::string probe;
  IpAddress source;
  IpAddress destination;
  PairState from = PairState::kPending;
  PairState to = PairState::kPending;
  Nanos window_start_utc = 0;  // of the window that is in force; 0: none yet
};

// What changed since a reader looked last. Bounded: sources are a set; events drop the oldest
// beyond kMaxEvents.
struct Changes {
  bool plan = false;  // the shape is another: everything below belongs to the new one
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sources;  // probe, source
  std::vector<StateEvent> events;
  std::uint64_t events_dropped = 0;
};

class Feed {
 public:
  static constexpr std::size_t kMaxEvents = 10'000;
  explicit Feed(std::function<void()> wake) : wake_(std::move(wake)) {}
  Changes take();

 private:
  friend class Board;
  void addEvents(const std::vector<StateEvent>& events);  // with the lock held

  std::mutex mutex_;
  std::function<void()>
      wake_;  // called, without the lock, when something waits; any thread, must not block
  Changes waiting_;
  std::unordered_set<std::uint64_t> dirty_;
};

class Board {
 public:
  using Sources = std::vector<std::vector<std::shared_ptr<const SourceSnapshot>>>;

  // The control thread.
  // `sources` by probe and source, as far as they are known; others become empty.
  void publishPlan(std::shared_ptr<const GridPlan> plan, Sources sources = {});
  void publishSource(std::uint32_t probe, std::uint32_t source,
                     std::shared_ptr<const SourceSnapshot> snapshot);
  void publishEvents(const std::vector<StateEvent>& events);
  void publishHosts(std::shared_ptr<const Hosts> hosts);
  void publishControl(std::shared_ptr<const ControlStatus> status);
  // The Redis thread.
  void publishRedis(std::shared_ptr<const RedisStatus> status);

  // Any thread. Never nullptr, but for snapshots of sources that have none yet.
  std::shared_ptr<const GridPlan> plan() const;
  // The plan with its sources, taken together. `probe` out of range gives none.
  std::vector<std::shared_ptr<const SourceSnapshot>> sources(std::uint32_t probe,
                                                             std::uint64_t generation) const;
  std::shared_ptr<const SourceSnapshot> source(std::uint32_t probe, std::uint32_t source,
                                               std::uint64_t generation) const;
  std::shared_ptr<const Hosts> hosts() const;
  std::shared_ptr<const ControlStatus> control() const;
  std::shared_ptr<const RedisStatus> redis() const;

  // The feed starts with `plan` set. It lives as long as the reader holds it.
  std::shared_ptr<Feed> subscribe(std::function<void()> wake);

 private:
  using Feeds = std::vector<std::shared_ptr<Feed>>;
  Feeds liveFeeds() const;  // with the lock held

  mutable std::mutex mutex_;
  std::shared_ptr<const GridPlan> plan_ = std::make_shared<GridPlan>();
  Sources sources_;
  std::shared_ptr<const Hosts> hosts_ = std::make_shared<Hosts>();
  std::shared_ptr<const ControlStatus> control_ = std::make_shared<ControlStatus>();
  std::shared_ptr<const RedisStatus> redis_ = std::make_shared<RedisStatus>();
  std::vector<std::weak_ptr<Feed>> feeds_;
};

}  // namespace pingloom::controller
