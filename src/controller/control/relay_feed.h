// Tells the other controllers of the same history what the agents of this one say: registrations,
// heartbeats, batches, traced paths, and that they are gone (docs/scale.md), and which pairs are
// probed for links. A controller follows by a Follow message each second. It first gets all that is
// known, then everything in order. The answer to each further Follow has the collectors that have
// registered here. What one cannot take in time waits here; if too much waits, it starts from the
// beginning again. The control thread; the owner calls runDue() at nextDue(). Bounds: kMaxFollowers
// followers, kMaxWaiting bytes for each (which all share as far as they are the same), kPieceBytes
// and one relay that are not encoded yet, and the pairs that are probed for links. A batch that is
// told takes at most about three times the bytes that its agent sent (relayed_rows.h), so a piece
// with it fits into a follower's message.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control.pb.h"
#include "controller/control/registry.h"
#include "controller/model/board.h"
#include "controller/model/fabric_cover.h"
#include "net/zmq_router.h"

namespace pingloom::controller {

class RelayFeed {
 public:
  static constexpr Nanos kGather =
      20 * kMillisecond;  // what is said within it is sent as one message
  static constexpr std::size_t kPieceBytes = 256U << 10;
  static constexpr std::size_t kMaxFollowers = 64;
  static constexpr std::size_t kMaxWaiting = std::size_t{256} << 20;
  // Without a Follow, although none can be waiting to be read: see drained().
  static constexpr Nanos kForget = 5 * kSecond;
  static constexpr Nanos kStartPause = kSecond;  // between two starts of one follower
  static constexpr Nanos kRetry = 5 * kMillisecond;

  // REQUIRES: all of them outlive the feed.
  RelayFeed(net::ZmqRouter& socket, Registry& registry, const Board& board,
            std::size_t max_waiting = kMaxWaiting)
      : socket_(socket), registry_(registry), board_(board), max_waiting_(max_waiting) {}

  // Takes a Follow, or returns the reason for refusing it: only members of the cluster may follow.
  std::optional<Refusal> follow(const std::string& route, const wire::Follow& follow, Instant now);

  // Whether anybody follows. Otherwise nothing has to be told.
  bool followed() const { return !followers_.empty(); }
  // The name of the controller that follows on this connection; nullptr if none does.
  const std::string* follower(const std::string& route) const;
  // Sends one follower something of its own, behind what waits for it; nothing if it has gone.
  void tell(const std::string& follower, const wire::ControllerMessage& message, Instant now);
  // REQUIRES: the agents are registered here.
  // `fresh`: it has just registered, and was not only heard again.
  void registered(Agent& agent, bool fresh, Instant now);
  void heartbeat(const Agent& agent, const wire::Heartbeat& heartbeat, Instant now);
  // `shown` is what the grid shows of it.
  void batch(const Agent& agent, wire::RelayedBatch&& shown, Instant now);
  void paths(const Agent& agent, const wire::PathReport& report, Instant now);
  // All pairs that are probed here for links; whoever begins later is told them too.
  void covers(const std::vector<CoverPairs>& covers, Instant now);
  // The agent was sent to this other controller.
  void moved(const Agent& agent, const std::string& controller, Instant now);
  // Takes the result of Registry::takeChanged(), and tells which agents are gone or back.
  void presenceChanged(const std::vector<IpAddress>& addresses, Instant now);

  // All messages that have arrived have been taken.
  void drained(Instant now) { drained_mono_ = now.mono; }
  void runDue(Instant now);
  Nanos nextDue() const { return std::min(gathered_mono_, retry_mono_); }  // CLOCK_MONOTONIC
  std::uint64_t restarts() const { return restarts_; }

 private:
  using Piece = std::shared_ptr<const std::string>;
  struct Follower {
    std::string route;
    std::uint64_t attempt = 0;
    Nanos started_mono = 0;
    Nanos heard_mono = 0;
    bool overrun = false;  // too much has waited; its next Follow starts again
    std::deque<Piece> waiting;
    std::size_t waiting_bytes = 0;
    std::size_t max_waiting = 0;
  };

  wire::Relay* add(const std::string& host, Instant now);
  void giveCovers(Follower& follower);
  void encodeGathered();
  void tellAll(Follower& follower);
  void give(Follower& follower, Piece piece);
  void flush(Follower& follower);
  void flushAll(Instant now);

  net::ZmqRouter& socket_;
  Registry& registry_;
  const Board& board_;
  const std::size_t max_waiting_;
  std::map<std::string, Follower> followers_;  // by name
  std::vector<Piece> covers_;                  // what covers() was given the last time
  wire::ControllerMessage gathered_;
  std::size_t gathered_bytes_ = 0;
  Nanos gathered_mono_ = kNever;  // when it is sent
  Nanos retry_mono_ = kNever;     // when what waits is tried again
  Nanos drained_mono_ = 0;        // the last time
  std::uint64_t restarts_ = 0;    // of followers that were too slow
};

}  // namespace pingloom::controller
