// Incidents: what the controller concludes from the judged pairs (docs/verdicts.md). The control
// thread makes them; everybody else reads immutable copies from the board. Values.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/nic_counter.h"
#include "common/time.h"
#include "common/vocabulary.h"
#include "controller/model/page_anomaly.h"

namespace pingloom::controller {

// What can be at fault. The names are those of the API, Redis, metrics and docs/verdicts.md.
enum class CulpritKind : std::uint8_t {
  kHost = 0,         // both directions of a host's network side
  kHostSend = 1,     // what it sends
  kHostReceive = 2,  // what it receives
  kHostCpu = 3,      // its own time: responder, prober, stalls
  kAddress = 4,      // one address (NIC, rail) of a host that has several; as above
  kAddressSend = 5,
  kAddressReceive = 6,
  kGroup = 7,   // the hosts with one value of a label, seen from outside or all
  kProbe = 8,   // all pairs of one probe
  kPair = 9,    // a single pair
  kAgent = 10,  // an agent that is gone or restarts again and again
  // Parts of the fabric, if the paths of flows are known (docs/paths.md).
  kLink = 11,    // one direction between two switches
  kCable = 12,   // both directions
  kSwitch = 13,  // everything through a switch
};
constexpr std::array<std::string_view, 14> kCulpritKindNames = {
    "host",  "host-send", "host-receive", "host-cpu", "address", "address-send", "address-receive",
    "group", "probe",     "pair",         "agent",    "link",    "cable",        "switch"};
constexpr std::string_view name(CulpritKind kind) {
  return kCulpritKindNames[static_cast<std::size_t>(kind)];
}

struct Culprit {
  CulpritKind kind = CulpritKind::kPair;
  // The host's name, the address's name ("gpu-7/rail0"), "rack=r1" for a group, the probe's name,
  // "gpu-1 -> gpu-2" for a pair, "spine1 -> leaf0" for a link, "leaf0 - spine1" for a cable, or the
  // switch's name.
  std::string name;

  auto operator<=>(const Culprit&) const = default;
};
// Returns what an incident is about, whatever its kind, so that it stays one incident while the
// kind changes: "host:gpu-3", "address:gpu-3/rail0", "group:rack=r1", "probe:udp", "pair:a|b".
std::string entityOf(const Culprit& culprit);

// A pair that the verdict rests on.
struct Evidence {
  std::string probe;
  IpAddress source;
  IpAddress destination;
  std::string source_name;
  std::string destination_name;
  PairState state = PairState::kPending;
  Severity severity = Severity::kNone;
  std::string because;  // "network_p50 2.4 ms, 800 x the mesh's median"
};

// A counter of an accused host's NIC or port that moved around the opening.
struct MovedCounter {
  std::string host;
  std::string device;
  std::uint32_t port = 0;  // 0: a network interface
  std::string counter;     // docs/counters.md
  CounterKind kind = CounterKind::kError;
  std::uint64_t moved = 0;
  Nanos since_utc = 0;
};

struct PastSentence {
  Nanos utc = 0;
  Severity severity = Severity::kNone;
  std::string sentence;
};

struct Acknowledgement {
  std::string by;
  std::string comment;
  Nanos utc = 0;
};

struct Incident {
  static constexpr std::size_t kMaxEvidence = 10;
  static constexpr std::size_t kMaxHistory = 20;
  static constexpr std::size_t kMaxCandidates = 8;
  static constexpr std::size_t kMaxCounters = 8;
  static constexpr std::size_t kMaxAnomalies = 4;

  std::uint64_t id = 0;
  Culprit culprit;
  Severity severity = Severity::kNone;
  Figure figure = Figure::kNetwork;  // the figure that accuses the culprit most
  Nanos opened_utc = 0;
  Nanos updated_utc = 0;
  Nanos closed_utc = 0;             // 0 while it is open
  std::uint32_t flaps = 0;          // how often it was opened again
  std::vector<std::string> probes;  // ordered by name
  // These count the pairs that the culprit would explain.
  std::uint64_t bad_pairs = 0;
  std::uint64_t judged_pairs = 0;
  std::string sentence;
  std::vector<Culprit> candidates;     // others that would explain it as well
  std::string tell;                    // which probe would tell the candidates apart; "" if none
  std::vector<Evidence> evidence;      // the worst first
  std::vector<MovedCounter> counters;  // errors first
  std::vector<PageAnomaly> anomalies;  // of applications around the opening; the largest first
  std::map<std::string, std::string> labels;  // the host's in the pinglist
  std::vector<PastSentence> history;          // the oldest first
  std::optional<Acknowledgement> acknowledged;
  std::uint64_t silenced_by = 0;  // id of the silence in force; 0: none

  bool open() const { return closed_utc == 0; }
};

// Hides incidents and withholds their alerts until a time. An incident matches if it has each of
// these values: its culprit's name under "culprit" and "host", its "kind", a "probe" of its, or a
// label of the pinglist.
struct Silence {
  std::uint64_t id = 0;
  std::map<std::string, std::string> matchers;
  Nanos created_utc = 0;
  Nanos until_utc = 0;
  std::string by;
  std::string comment;
};

// A host whose pairs are shown but not judged.
struct Maintenance {
  std::string host;
  Nanos created_utc = 0;
  Nanos until_utc = 0;  // kNever: until it is ended
  std::string by;
  std::string comment;
  bool in_pinglist = false;  // ended by editing the pinglist, not here
};

using Incidents = std::vector<std::shared_ptr<const Incident>>;

// Tells whether the silence is in force and matches the incident.
bool silences(const Silence& silence, const Incident& incident, Nanos now_utc);

// A change of what the ledger keeps. An empty document removes it.
struct VerdictRecord {
  enum class Kind : std::uint8_t { kIncident, kSilence, kMaintenance };
  Kind kind = Kind::kIncident;
  std::string key;  // an id, or the host in maintenance
  Nanos opened_utc = 0;
  Nanos closed_utc = 0;
  std::string document = {};

  bool operator==(const VerdictRecord&) const = default;
};

// Everything that is concluded at one time.
struct Verdict {
  Incidents open;    // the worst first, then the oldest
  Incidents recent;  // closed in the last 10 minutes, the newest first; at most kMaxRecent
  std::vector<Silence> silences;
  std::vector<Maintenance> maintenance;
  std::uint64_t judged_pairs = 0;
  Nanos oldest_window_utc = 0;  // end of the oldest window that is judged; 0: none

  static constexpr std::size_t kMaxRecent = 100;
};

}  // namespace pingloom::controller
