// The board: the controller's current state as immutable snapshots. Only the control thread
// publishes; Redis, HTTP and history read from their own threads. Pointers are swapped under a
// short lock, and a published object never changes.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "common/address.h"
#include "common/distribution.h"
#include "common/page_owner.h"
#include "common/time.h"
#include "common/vocabulary.h"
#include "controller/model/alert_status.h"
#include "controller/model/cluster_status.h"
#include "controller/model/collector_roster.h"
#include "controller/model/fabric_cover.h"
#include "controller/model/fabric_map.h"
#include "controller/model/host_counters.h"
#include "controller/model/incident.h"
#include "controller/model/latency.h"
#include "controller/model/path_board.h"
#include "controller/model/rows.h"
#include "net/peer_gate.h"
#include "pinglist/pinglist.h"
#include "plan/endpoint.h"
#include "plan/plan.h"
#include "plan/sampling.h"
#include "wire/control_protocol.h"

namespace pingloom::controller {

// All rows of one probe at one source.
struct SourceRows {
  std::uint64_t incarnation = 0;  // incarnation of the agent that measured the newest window
  std::uint64_t window_index = 0;
  Nanos window_start_utc = 0;
  Nanos window = 0;
  // when the controller received it first; the expiry in Redis counts from here
  Nanos reported_utc = 0;
  ClockSource clock = ClockSource::kKernel;
  std::string device;
  Rows rows;  // the rows of all paths together
  // If the probe has several paths, [k - 1] is path k. It is nullptr until this window has a report
  // of the path.
  std::vector<std::shared_ptr<const Rows>> paths;

  Nanos endUtc() const { return window_start_utc + window; }
  const Rows* ofPath(std::uint32_t path) const {  // 0 stands for all paths together
    if (path == 0) return &rows;
    return path <= paths.size() ? paths[path - 1].get() : nullptr;
  }
};

// nullopt if it is not a pair, or a path without a row
using States = std::vector<std::optional<PairState>>;

// The judgement of one pair.
struct Judged {
  // Set in `figures` if the newest window does not show what the pair is judged for: the pair is
  // only not forgiven yet.
  static constexpr std::uint8_t kFading = 0x80;
  static_assert(kFigureNames.size() <= 7);

  Severity severity = Severity::kNone;
  // Bit i: Figure i is beyond its threshold in the newest window that shows what the pair is judged
  // for; if the pair is ok, in the newest window.
  std::uint8_t figures = 0;

  bool operator==(const Judged&) const = default;
};

// The mesh's medians when a source was judged, indexed by Figure. Times are nanoseconds, and shares
// are millionths; 0 means unknown.
using Baseline = std::array<std::uint64_t, kFigureNames.size()>;

// Rows and the states derived from them. States can change without new rows (agent-down, stale).
struct SourceSnapshot {
  std::shared_ptr<const SourceRows> rows;  // nullptr if there is no window yet
  States states;
  // indexed like SourceRows::paths; empty for a path without rows
  std::vector<States> path_states = {};
  // Indexed like `states`; empty: nothing is judged yet. Paths are not judged.
  std::vector<Judged> judged = {};
  Baseline baseline = {};
  // Whether an agent that is registered with this controller has measured the rows.
  bool here = false;

  // Paths are not judged.
  Judged judgedOf(std::uint32_t path, std::size_t destination) const {
    return path == 0 && destination < judged.size() ? judged[destination] : Judged{};
  }
  Severity severityOf(std::size_t destination) const {
    return destination < judged.size() ? judged[destination].severity : Severity::kNone;
  }

  bool operator==(const SourceSnapshot&) const = default;  // rows are compared by identity
  const States& statesOf(std::uint32_t path) const {       // path 0 stands for `states`
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
  std::string rollup = {};  // the label by whose values latency is rolled up; "": none
  // The pairs of a probe that samples; nullptr: all. Then sources and destinations are the same.
  std::shared_ptr<const plan::Targets> targets = nullptr;

  // Returns the number of paths, or 0 if there is only one.
  std::uint32_t paths() const { return spec.paths > 1 ? spec.paths : 0; }
};

// The shape of the grid; `generation` grows with every pinglist that comes into force.
struct GridPlan {
  std::uint64_t generation = 0;
  std::uint64_t hash = 0;
  std::shared_ptr<const pinglist::Pinglist> pinglist;
  std::vector<ProbeGrid> probes;

  // Returns the name in the pinglist, or the address if it has no name.
  std::string nameOf(const IpAddress& address) const {
    return pinglist == nullptr ? address.text() : pinglist->nameOf(address);
  }
};

struct AgentEndpoint {
  plan::Endpoint endpoint;
  Nanos since_utc = 0;  // 0 if no change is known
};

struct AgentInfo {
  std::string host;
  std::string controller;  // the other controller that it is registered with; "": this one
  std::vector<IpAddress> addresses;
  // Those of its addresses for which the host has an RDMA device; ascending.
  std::vector<IpAddress> rdma_addresses;
  std::vector<AgentEndpoint> endpoints;  // RDMA endpoints, at most one for each address
  std::uint16_t port = 0;
  std::uint64_t incarnation = 0;
  std::string software_version;
  std::string public_key;              // the key of its connection; "" if that is not encrypted
  std::optional<SocketAddress> pages;  // where collectors request its metric pages
  bool alive = false;
  Nanos first_seen_utc = 0;
  Nanos last_seen_utc = 0;
  std::uint64_t plan_hash = 0;  // hash of the plan that the agent reports; 0 if it has none
  bool plan_current = false;    // whether that plan is in force
  std::uint64_t spooled_batches = 0;
  std::uint64_t spooled_bytes = 0;
  std::uint64_t spool_dropped = 0;
  std::uint64_t pings_sent = 0;
  std::uint64_t pings_skipped = 0;
  std::uint64_t stalls = 0;
  std::uint64_t refused_packets = 0;
  std::shared_ptr<const PageOwners> page_owners;  // nullptr if there are none
  std::shared_ptr<const HostCounters> counters;   // nullptr if the agent has told none

  bool isHere() const { return controller.empty(); }
};
using Hosts = std::vector<AgentInfo>;  // ordered by host

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
  std::uint64_t blocks_dropped = 0;  // blocks that could not be read for the roll-up
  std::uint64_t bytes = 0;           // size of the database file
  std::uint64_t events_written = 0;  // state changes written
  // State changes, and other records of that kind, that the disk could not take in time.
  std::uint64_t events_dropped = 0;
  Nanos lag = 0;  // since when nothing was committed of the batches that wait; 0: none wait
};

// The outcomes of requests to join, by their number in JoinReply.
using JoinCounts = std::array<std::uint64_t, wire::kJoinOutcomeNames.size()>;

struct KeysStatus {
  std::size_t authorized = 0;
  bool newest_in_force = true;  // whether the file on disk is in force
  net::PeerRefusals refused{};  // refused at the control port
  std::size_t waiting = 0;      // keys that somebody has to approve
  JoinCounts joins{};
};

// The names of wire::Refused::Reason in the API and in metrics.
constexpr std::array<std::string_view, 7> kRefusedNames = {
    "unknown",     "not_registered", "duplicate_host", "duplicate_address",
    "bad_version", "bad_message",    "not_authorized"};

// Why a batch or a report of it was refused. The API, metrics and docs/control-messages.md use
// these names.
enum class ReportFault : std::uint8_t {
  kBatch,      // the batch is malformed, unnamed, of a later incarnation, or has too many reports
  kMalformed,  // a report is no protobuf message, or its head is too long
  kHead,       // a field of its head is out of range
  kFutureWindow,   // its window ends far in the future
  kForeignSource,  // its source is not an address of the agent
  kRows,           // a row is malformed, out of range, or contradicts itself
};
constexpr std::array<std::string_view, 6> kReportFaultNames = {
    "batch", "malformed", "head", "future_window", "foreign_source", "rows"};
using ReportFaults = std::array<std::uint64_t, kReportFaultNames.size()>;

// Traced paths from agents.
struct PathCounts {
  std::uint64_t taken = 0;
  std::uint64_t changed = 0;  // of those, flows that took another path than before
  std::uint64_t folded = 0;   // of those, without a record of their own (path_change.h)
  std::uint64_t ignored = 0;  // the plan does not have the flow (any more), or nothing is new
  std::uint64_t refused = 0;  // malformed, or of a source that the agent does not own
};

struct ControlStatus {
  Nanos started_utc = 0;
  std::string pinglist_path;
  Nanos pinglist_loaded_utc = 0;
  std::string pinglist_error;  // the last rejection, or "" if the newest file is in force
  std::uint64_t pinglist_reloads = 0;
  std::uint64_t pinglist_rejections = 0;
  // What the pinglist's entries `registered` lead to (pinglist/members.h).
  std::size_t members = 0;  // agents that have registered and are not forgotten
  std::vector<std::string> member_warnings;
  std::vector<std::string> member_notes;
  std::uint64_t batches_committed = 0;
  std::uint64_t batches_duplicate = 0;
  std::uint64_t batches_shown = 0;  // batches shown out of order or before their commit
  std::uint64_t rows_committed = 0;
  std::uint64_t rows_ignored = 0;  // rows of pairs that left the plan, or older than the known row
  PathCounts paths;
  std::uint64_t messages_refused = 0;
  std::uint64_t messages_dropped = 0;  // an agent had too many waiting
  std::array<std::uint64_t, kRefusedNames.size()> refused_by_reason{};
  ReportFaults reports_refused{};
  std::optional<KeysStatus> keys;  // nullopt without keys
  bool exposed = false;            // whether agents without keys are let in from beyond loopback
  HistoryStatus history;
  // Other controllers that tell what their agents say, the batches that they have told, and how
  // often one of them was too slow for what this one told.
  std::vector<std::string> controllers_heard;
  std::uint64_t batches_relayed = 0;
  ReportFaults relayed_refused{};  // of what they have told
  std::uint64_t followers_restarted = 0;
  std::uint64_t agents_sent_away = 0;  // redirects to other controllers
};

// A change of a pair's state, of its severity, or of both.
struct StateEvent {
  Nanos utc = 0;
  std::string probe;
  IpAddress source;
  IpAddress destination;
  PairState from = PairState::kPending;
  PairState to = PairState::kPending;
  Nanos window_start_utc = 0;  // start of the current window; 0 if there is none yet
  Severity severity_from = Severity::kNone;
  Severity severity_to = Severity::kNone;
  bool elsewhere = false;  // another controller keeps it in the history
  bool here = false;       // as in SourceSnapshot
};

// What changed since the reader's last look. Bounds: each source is listed once, and beyond
// kMaxEvents the oldest events are dropped.
struct Changes {
  bool plan = false;  // whether the shape changed; everything below belongs to the new one
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sources;  // probe, source
  std::deque<StateEvent> events;
  std::uint64_t events_dropped = 0;
  bool verdict = false;  // whether there is another verdict
  KnownPaths paths;      // each time a path was traced
  // Whether there were more than kMaxPaths, which are not listed: all may have changed.
  bool all_paths = false;
};

// What a reader uses besides plans and verdicts. Whatever it does not use neither wakes it nor is
// kept for it.
struct FeedTopics {
  bool sources = true;
  bool events = true;
  bool paths = true;
};

class Feed {
 public:
  static constexpr std::size_t kMaxEvents = 10'000;
  static constexpr std::size_t kMaxPaths = 10'000;
  Feed(std::function<void()> wake, FeedTopics topics) : wake_(std::move(wake)), topics_(topics) {}
  Changes take();

 private:
  friend class Board;
  // Both require the lock.
  void addEvents(const std::vector<StateEvent>& events);
  void addPath(const std::shared_ptr<const KnownPath>& path);

  std::mutex mutex_;
  std::function<void()>
      wake_;  // called without the lock when changes wait; on any thread; must not block
  const FeedTopics topics_;
  Changes waiting_;
  std::unordered_set<std::uint64_t> dirty_;
};

class Board {
 public:
  using Sources = std::vector<std::vector<std::shared_ptr<const SourceSnapshot>>>;

  // These are called by the control thread.
  // `sources` are indexed by probe and source as far as they are known; the others become empty.
  void publishPlan(std::shared_ptr<const GridPlan> plan, Sources sources = {});
  void publishSource(std::uint32_t probe, std::uint32_t source,
                     std::shared_ptr<const SourceSnapshot> snapshot);
  void publishEvents(const std::vector<StateEvent>& events);
  void publishVerdict(std::shared_ptr<const Verdict> verdict);
  PathBoard::Taken publishPath(TracedPath&& traced, bool elsewhere = false);
  // Called by the fabric's thread.
  void publishFabric(std::shared_ptr<const FabricMap> map);
  void publishCover(std::shared_ptr<const FabricCover> cover);
  void forgetPaths(Nanos now_utc) { paths_.forget(now_utc); }
  void publishLatency(std::shared_ptr<const LatencySnapshot> latency);
  void publishHosts(std::shared_ptr<const Hosts> hosts);
  void publishControl(std::shared_ptr<const ControlStatus> status);
  // This is called by the Redis thread.
  void publishRedis(std::shared_ptr<const RedisStatus> status);
  // This is called by the alerts' thread.
  void publishAlerts(std::shared_ptr<const AlertStatuses> statuses);
  // This is called by the thread that keeps the lease.
  void publishCluster(std::shared_ptr<const ClusterStatus> status);

  // Any thread may call these. They never return nullptr, except for sources without a snapshot.
  std::shared_ptr<const GridPlan> plan() const;
  // Returns the plan and its sources consistently; no sources if `probe` is out of range.
  std::vector<std::shared_ptr<const SourceSnapshot>> sources(std::uint32_t probe,
                                                             std::uint64_t generation) const;
  std::shared_ptr<const SourceSnapshot> source(std::uint32_t probe, std::uint32_t source,
                                               std::uint64_t generation) const;
  std::shared_ptr<const Verdict> verdict() const;
  const PathBoard& paths() const { return paths_; }
  PageAnomalies& pageAnomalies() { return page_anomalies_; }
  CollectorRoster& collectorRoster() { return collector_roster_; }
  const CollectorRoster& collectorRoster() const { return collector_roster_; }
  std::shared_ptr<const FabricMap> fabric() const;
  std::shared_ptr<const FabricCover> cover() const;
  std::shared_ptr<const LatencySnapshot> latency() const;
  std::shared_ptr<const Hosts> hosts() const;
  std::shared_ptr<const ControlStatus> control() const;
  std::shared_ptr<const RedisStatus> redis() const;
  std::shared_ptr<const AlertStatuses> alerts() const;
  std::shared_ptr<const ClusterStatus> cluster() const;

  // The feed starts as if all that its reader uses had changed, and lives as long as the reader
  // holds it. The sources are those of the plan.
  std::shared_ptr<Feed> subscribe(std::function<void()> wake, FeedTopics topics = {});

 private:
  using Feeds = std::vector<std::shared_ptr<Feed>>;
  // Requires the lock. Returns the feeds whose readers use the topic, or all if none is given.
  Feeds liveFeeds(bool FeedTopics::*topic = nullptr) const;

  mutable std::mutex mutex_;
  std::shared_ptr<const GridPlan> plan_ = std::make_shared<GridPlan>();
  Sources sources_;
  std::shared_ptr<const Verdict> verdict_ = std::make_shared<Verdict>();
  PathBoard paths_;
  PageAnomalies page_anomalies_;
  CollectorRoster collector_roster_;
  std::shared_ptr<const FabricMap> fabric_ = std::make_shared<FabricMap>();
  std::shared_ptr<const FabricCover> cover_ = std::make_shared<FabricCover>();
  std::shared_ptr<const LatencySnapshot> latency_ = std::make_shared<LatencySnapshot>();
  std::shared_ptr<const Hosts> hosts_ = std::make_shared<Hosts>();
  std::shared_ptr<const ControlStatus> control_ = std::make_shared<ControlStatus>();
  std::shared_ptr<const RedisStatus> redis_ = std::make_shared<RedisStatus>();
  std::shared_ptr<const AlertStatuses> alerts_ = std::make_shared<AlertStatuses>();
  std::shared_ptr<const ClusterStatus> cluster_ = std::make_shared<ClusterStatus>();
  std::vector<std::weak_ptr<Feed>> feeds_;
};

}  // namespace pingloom::controller
