// The collectors that have registered with this controller, or with another one that shares its
// history. Each registration is also a heartbeat: a collector without one for kGone counts as gone,
// and is forgotten after kForget. The controller asks only registered collectors, at the address
// that they registered, and sends its token only to those that have proved who they are. If a
// collector moves to another controller, its newest registration counts. Bounds: kMax collectors,
// each with the bounds of its link. Any thread: the HTTP thread, and stop() another one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "controller/collectors/collector_link.h"
#include "controller/collectors/collector_view.h"
#include "controller/model/collector_roster.h"

namespace pingloom::controller {

enum class EnrolRefusal : std::uint8_t {
  kMalformed,  // the request is no registration
  kAddress,    // the controller may not or cannot ask that address
  kFull,       // kMax collectors are known already
};
constexpr std::array<std::string_view, 3> kEnrolRefusals = {"malformed", "address", "full"};

// A collector's registration, as it arrived.
struct Enrolment {
  std::string name;
  std::string url;  // http[s]://ADDRESS:PORT; an unspecified address stands for the sender's
  IpAddress sender;
  // Whether the sender has proved that it may name another address than its own.
  bool trusted = false;
  bool forwarded = false;  // by a proxy, so that `sender` is the proxy's address
};

class Collectors {
 public:
  static constexpr std::size_t kMax = CollectorRoster::kMax;
  static constexpr std::size_t kMaxName = CollectorRegistration::kMaxName;  // bytes
  static constexpr Nanos kGone = 20 * kSecond;
  static constexpr Nanos kForget = CollectorRegistration::kForget;

  // `anomalies` is told what collectors say is unusual, and `roster` who has registered here.
  Collectors(CollectorAccess access, PageAnomalies& anomalies, CollectorRoster& roster)
      : access_(std::move(access)), anomalies_(anomalies), roster_(roster) {}

  // Returns the URL at which the collector will be asked.
  tl::expected<std::string, std::pair<EnrolRefusal, std::string>> enrol(const Enrolment& enrolment,
                                                                        Instant now);
  void countMalformed();
  // Takes what other controllers have told the roster.
  void takeTold(Instant now);

  struct Entry {
    std::string name, url;
    std::string controller;  // the one that it has registered with; "": this one
    bool alive = false;
    Nanos heard_utc = 0;
    std::shared_ptr<const CollectorView> view;  // never nullptr
  };
  std::vector<Entry> list(Nanos now_mono);  // by URL

  // The applications or events of all collectors that are alive. If several collectors read a host,
  // the first of them speaks for it.
  using Records = std::vector<CollectorRecord> CollectorView::*;
  struct Merged {
    std::vector<std::shared_ptr<const CollectorView>> views;  // keep the records alive
    std::vector<const CollectorRecord*> records;
  };
  Merged merged(Records kind, Nanos now_mono);

  enum class Asked : std::uint8_t { kAsked, kNobody, kBusy };
  // Asks the collector that reads the host for its pages. `respond` is called only with kAsked.
  Asked ask(const std::string& host, const http::Respond& respond, Nanos now_mono);

  std::array<std::uint64_t, kEnrolRefusals.size()> refused() const;
  void stop();  // answers all questions that wait, and takes no more

 private:
  struct Known {
    std::string name;
    std::string controller;  // as that of an entry
    bool trusted = false;
    Nanos heard_mono = 0, heard_utc = 0;
    std::unique_ptr<CollectorLink> link;
  };
  using Links = std::vector<std::unique_ptr<CollectorLink>>;
  tl::expected<std::string, std::pair<EnrolRefusal, std::string>> enrolLocked(
      const Enrolment& enrolment, Instant now, Links& gone);
  bool dropTold(Links& gone);
  void take(const std::string& controller, const CollectorRegistration& told, bool same_machine,
            Instant now, Links& gone);
  void note(const CollectorRegistration& registration, const std::string& controller, Instant now,
            Links& gone);
  void publish();
  // Moves out what is to be destroyed once the lock is released, because a link's end may take
  // long.
  void forget(Nanos now_mono, Links& gone);

  const CollectorAccess access_;
  PageAnomalies& anomalies_;
  CollectorRoster& roster_;
  mutable std::mutex mutex_;  // guards the members below
  bool stopped_ = false;
  std::set<std::string> warned_;  // URLs that are not taken from other controllers; at most kMax
  std::map<std::string, Known> known_;  // by URL
  std::array<std::uint64_t, kEnrolRefusals.size()> refused_{};
};

}  // namespace pingloom::controller
