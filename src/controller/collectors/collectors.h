// The collectors that have registered with this controller. Each registration is also a heartbeat:
// a collector without one for kGone counts as gone, and is forgotten after kForget. The controller
// asks only registered collectors, at the address that they registered, and sends its token only to
// those that have proved who they are. Bounds: kMax collectors, each with the bounds of its link.
// Any thread: the HTTP thread, and stop() another one.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "controller/collectors/collector_link.h"
#include "controller/collectors/collector_view.h"

namespace pingloom::controller {

enum class EnrolRefusal : std::uint8_t {
  kMalformed,  // the request is no registration
  kAddress,    // the controller may not or cannot ask that address
  kFull,       // there are kMax collectors already
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
  static constexpr std::size_t kMax = 32;
  static constexpr std::size_t kMaxName = 253;  // bytes
  static constexpr Nanos kGone = 20 * kSecond;
  static constexpr Nanos kForget = 10 * kMinute;

  // `anomalies` is told what collectors say is unusual.
  Collectors(CollectorAccess access, PageAnomalies& anomalies)
      : access_(std::move(access)), anomalies_(anomalies) {}

  // Returns the URL at which the collector will be asked.
  tl::expected<std::string, std::pair<EnrolRefusal, std::string>> enrol(const Enrolment& enrolment,
                                                                        Instant now);
  void countMalformed();

  struct Entry {
    std::string name, url;
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
    bool trusted = false;
    Nanos heard_mono = 0, heard_utc = 0;
    std::unique_ptr<CollectorLink> link;
  };
  using Links = std::vector<std::unique_ptr<CollectorLink>>;
  tl::expected<std::string, std::pair<EnrolRefusal, std::string>> enrolLocked(
      const Enrolment& enrolment, Instant now, Links& gone);
  // Moves out what is to be destroyed once the lock is released, because a link's end may take
  // long.
  void forget(Nanos now_mono, Links& gone);

  const CollectorAccess access_;
  PageAnomalies& anomalies_;
  mutable std::mutex mutex_;  // guards the members below
  bool stopped_ = false;
  std::map<std::string, Known> known_;  // by URL
  std::array<std::uint64_t, kEnrolRefusals.size()> refused_{};
};

}  // namespace pingloom::controller
