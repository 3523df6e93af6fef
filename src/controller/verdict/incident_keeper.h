// Keeps the incidents. A finding that lasts opens an incident, which stays the same incident while
// the finding changes, closes when the finding is gone, and opens again if the finding returns
// soon. It also keeps acknowledgements, silences, and the maintenance that people begin by hand.
// The control thread owns the keeper. Bounds: kMaxOpen open incidents, Verdict::kMaxRecent recent
// ones, kMaxSilences silences, kMaxMaintenance hosts in maintenance.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "controller/model/incident.h"
#include "controller/verdict/finding.h"

namespace pingloom::controller {

class IncidentKeeper {
 public:
  static constexpr std::size_t kMaxOpen = 1000;
  static constexpr std::size_t kMaxSilences = 1000;
  static constexpr std::size_t kMaxMaintenance = 100'000;
  // A culprit that returns within this time opens its incident again.
  static constexpr Nanos kReopen = 10 * kMinute;
  // After a start, pairs have to be judged anew before a restored incident can close.
  static constexpr Nanos kGrace = 30 * kSecond;
  // Figures in a sentence are refreshed at most this often.
  static constexpr Nanos kRefresh = 5 * kSecond;
  // What is noticed about a host later than this after the opening is no evidence any more.
  static constexpr Nanos kHostWatch = 2 * kMinute;
  // The largest size of a name, a comment or a matcher in bytes.
  static constexpr std::size_t kMaxTextBytes = 1000;

  // Takes over what the ledger has kept. It is called once, before everything else.
  void restore(const std::vector<VerdictRecord>& records, Instant now);

  // Takes all findings of this moment.
  void update(std::vector<Finding> findings, Instant now);

  // These fail if the id or host is unknown, a bound is reached, or a text is too long.
  Result<Incident> acknowledge(std::uint64_t id, std::optional<Acknowledgement> acknowledgement,
                               Instant now);
  Result<Silence> addSilence(Silence silence, Instant now);
  Status removeSilence(std::uint64_t id, Instant now);
  Result<Maintenance> beginMaintenance(Maintenance maintenance, Instant now);
  Status endMaintenance(const std::string& host);

  // Tells whether there is something new to publish since the last call of verdict().
  bool changed() const { return changed_; }
  // Returns the verdict without the counts of pairs.
  Verdict verdict();
  const std::map<std::string, Maintenance>& maintenance() const { return maintenance_; }
  // Returns the changes since the last call that the ledger has to keep.
  std::vector<VerdictRecord> takeRecords();

 private:
  struct Tracked {
    Incident incident;
    Nanos window = 0;
    Nanos first_seen_mono = 0;
    Nanos last_seen_mono = 0;
    Nanos refreshed_mono = 0;
    Nanos lower_since_mono = 0;  // since when its findings are less severe than it; 0: they are not
    bool open = false;           // a finding that has not lasted yet is no incident
    bool close_call = false;     // what was seen last was one
  };

  void see(Finding finding, Instant now);
  void open(Tracked& tracked, const std::string& entity, Instant now);
  void refresh(Tracked& tracked, Finding finding, Instant now);
  static void takeEvidenceOfHosts(Tracked& tracked, Finding& finding, Instant now);
  void close(Tracked& tracked, Instant now);
  void expire(Instant now);
  void applySilences(Instant now);
  void keep(const Incident& incident);
  void keep(const Silence& silence);

  std::map<std::string, Tracked> tracked_;  // by entity
  std::map<std::string, Incident> closed_;  // by entity, in the last kReopen
  std::map<std::uint64_t, Silence> silences_;
  std::map<std::string, Maintenance> maintenance_;  // by host
  std::vector<VerdictRecord> records_;
  std::uint64_t last_id_ = 0;
  bool changed_ = true;
};

}  // namespace pingloom::controller
