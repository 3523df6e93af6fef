// Follows the other controllers that share the history: holds a connection to the control port of
// each that has a session, asks it at once and then each second to tell what its agents say, and
// passes that on to the intake, and what it says about collectors to the board. What it says about
// pairs for links waits for takeCovers(). It has no thread: the owner calls run() when descriptor()
// is readable and at nextDue(). Where keys are in use, all controllers need the same one
// (docs/scale.md). The control thread. Bounds: kMaxOthers connections, and those of net::ZmqDealer
// for each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/fd.h"
#include "controller/control/homes.h"
#include "controller/model/board.h"
#include "controller/model/fabric_cover.h"
#include "controller/relay/relay_intake.h"
#include "net/zmq_dealer.h"

namespace pingloom::controller {

class OtherControllers {
 public:
  static constexpr std::size_t kMaxOthers = 64;
  static constexpr Nanos kFollow = kSecond;
  static constexpr Nanos kSilence = 5 * kSecond;  // then it counts as lost
  // For so long after a connection was opened it may be refused, and asks again.
  static constexpr Nanos kSettle = 3 * kSecond;
  static constexpr Nanos kAskRefused = 250 * kMillisecond;
  static constexpr Nanos kAskAgain = 2 * kSecond;       // between two requests for everything
  static constexpr Nanos kMaxTurn = 20 * kMillisecond;  // of run(), for all links together
  // After so long between two turns nothing was heard because nobody listened.
  static constexpr Nanos kLapse = 2 * kSecond;

  // REQUIRES: the board and the intake outlive it. `own` is nullopt without keys.
  static Result<std::unique_ptr<OtherControllers>> make(Board& board, RelayIntake& intake,
                                                        const std::optional<net::CurvePair>& own);
  OtherControllers(const OtherControllers&) = delete;
  OtherControllers& operator=(const OtherControllers&) = delete;

  // Those that tell what their agents say.
  std::vector<std::string> heard() const;
  // What is known of another member: it serves if it has told, since its session began, all of what
  // its agents say.
  Homes::Service serviceOf(const ClusterMember& other) const;
  // Sends an order of a burst to another controller. Returns false if that one is not heard or
  // knows no such orders.
  bool order(const std::string& name, const wire::AgentMessage& burst);
  // The pairs for links that others have told since the last call.
  std::vector<CoverPairs> takeCovers() { return std::exchange(covers_, {}); }
  int descriptor() const { return readable_.get(); }
  void run(Instant now);
  // CLOCK_MONOTONIC
  Nanos nextDue() const { return more_waits_ ? 0 : follow_due_mono_; }

 private:
  struct Link {
    net::ZmqDealer socket;
    std::string address;
    std::int64_t session = 0;
    std::int64_t told_session = 0;  // the newest in which it has told everything once
    std::uint64_t attempt = 0;
    bool connected = false;
    bool missed = false;  // everything is to be asked for again
    bool heard = false;   // it tells, and nothing is missing so far
    bool takes_bursts = false;
    Nanos heard_since_mono = 0;
    Nanos heard_mono = 0;  // the last time, or when it was opened
    Nanos asked_mono = 0;  // when everything was last asked for
    bool warned = false;   // that it has never been heard
    std::string refusal;   // the last that was logged
  };

  OtherControllers(Board& board, RelayIntake& intake, const std::optional<net::CurvePair>& own,
                   UniqueFd readable)
      : board_(board), intake_(intake), own_(own), readable_(std::move(readable)) {}
  void receiveAll(Instant now);
  void followNew(Instant now);
  void followConnected(Instant now);
  void refresh(Instant now);
  void open(const std::string& name, Link& link, Instant now);
  void follow(const std::string& name, Link& link, Instant now);
  void receive(const std::string& name, Link& link, Nanos until_mono, Instant now);
  void takeFrame(const std::string& name, Link& link, Instant now);
  void takeCollectors(const std::string& name, const Link& link, Instant now);
  static void lose(const std::string& name, Link& link);

  Board& board_;
  RelayIntake& intake_;
  const std::optional<net::CurvePair> own_;
  net::ZmqContext context_{4 * kMaxOthers};
  UniqueFd readable_;  // an epoll descriptor of all links
  std::map<std::string, Link> links_;
  std::shared_ptr<const ClusterStatus> refreshed_;  // the members that links_ are of
  std::int64_t session_ = 0;                        // this controller's
  std::vector<CoverPairs> covers_;                  // told by others, until they are taken
  Nanos follow_due_mono_ = 0;
  Nanos ran_mono_ = 0;     // the last turn
  Nanos lapsed_mono_ = 0;  // until when nobody listened, the last time
  bool more_waits_ = false;
  wire::ControllerMessage message_;
  std::string frame_;
};

}  // namespace pingloom::controller
