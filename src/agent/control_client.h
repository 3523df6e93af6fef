// The agent's side of the control protocol (docs/control-messages.md): it registers, sends
// heartbeats, learns the controller's clock, takes plans and endpoint tables, and delivers batches
// until they are acknowledged. A lifecycle in named states:
//
//   connecting -> registering -> registered      and back to connecting when the connection is lost
//                  ^        |        |           or nothing is heard for kSilence
//                  |        v        v
//                  +----- refused <--+           tries again after kRetry
//
// No thread of its own: the owner polls descriptor() and calls run() when it is readable, when
// deadline() has passed, and after it has added a batch. One thread, 2,000 clients on it if need
// be. Bounds: kMaxInFlight batches and kMaxInFlightBytes sent and not acknowledged, as many shown
// beside them in one call, kMaxMessagesPerRun messages taken in one call, one plan held.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/batch_source.h"
#include "agent/clock_filter.h"
#include "common/address.h"
#include "common/backoff.h"
#include "common/error.h"
#include "common/page_owner.h"
#include "common/time.h"
#include "net/zmq_dealer.h"
#include "plan/endpoint_codec.h"
#include "plan/plan.h"

namespace pingloom::wire {
class AgentMessage;
class BatchAck;
class BurstOrder;
class BurstReport;
class CollectorKeys;
class ControllerMessage;
class EndpointUpdate;
class HeartbeatReply;
class PlanUpdate;
class Refused;
class Registered;
}  // namespace pingloom::wire

namespace pingloom::agent {

// With whom, and as whom, the control connection is encrypted.
struct ControlKeys {
  net::CurvePair own;
  std::vector<net::CurveKey> controller;  // never none; several while the controller's is replaced
};

struct ControlOptions {
  std::string controller;  // HOST:PORT
  std::string host;        // the agent's id
  std::uint64_t incarnation = 0;
  std::vector<IpAddress> addresses;
  std::uint16_t port = 0;
  std::string software_version;
  std::string pages;                // ADDRESS:PORT for collectors; "": no metric pages
  std::optional<ControlKeys> keys;  // none: plaintext
};

// What a heartbeat tells of the agent; counters since its start.
struct AgentTotals {
  std::uint64_t spooled_batches = 0;
  std::uint64_t spooled_bytes = 0;
  std::uint64_t spool_dropped = 0;
  std::uint64_t pings_sent = 0;
  std::uint64_t pings_skipped = 0;
  std::uint64_t stalls = 0;
  std::uint64_t refused_packets = 0;
};

struct ControlCounters {
  std::uint64_t registrations = 0;
  std::uint64_t refusals = 0;
  std::uint64_t connections_lost = 0;
  std::uint64_t handshakes_failed = 0;
  std::uint64_t bad_messages = 0;         // not parsed, out of bounds, of several frames
  std::uint64_t unexpected_messages = 0;  // well-formed, but nothing that was waited for
  std::uint64_t plans_taken = 0;
  std::uint64_t plans_refused = 0;
  std::uint64_t endpoint_updates_taken = 0;
  std::uint64_t endpoint_updates_refused = 0;
  std::uint64_t batches_sent = 0;  // repetitions included
  std::uint64_t batches_resent = 0;
  std::uint64_t batches_shown = 0;  // sent to be shown, ahead of their turn
  std::uint64_t batches_acknowledged = 0;
};

// Called from within run().
class ControlOwner {
 public:
  virtual ~ControlOwner() = default;
  virtual void planChanged(std::shared_ptr<const plan::Plan> plan) = 0;
  virtual void clockOffsetChanged(Nanos offset) = 0;  // controller UTC - CLOCK_MONOTONIC
  virtual AgentTotals totals() = 0;
  // Returns the owners of the host's metric pages, or nullptr if it serves none. The list is sent
  // only when the object is replaced.
  virtual std::shared_ptr<const PageOwners> pageOwners() = 0;
  // RDMA: what to register, and which endpoint table is held.
  virtual std::vector<plan::Endpoint> endpoints() = 0;
  virtual plan::EndpointVersion heldEndpoints() = 0;
  // An error: it does not fit what is held, and the client asks for all of the table.
  virtual Status endpointsPushed(const wire::EndpointUpdate& update) = 0;
  // Probe a pair at once; ControlClient::send() takes what comes of it.
  virtual void burstOrdered(const wire::BurstOrder& order) = 0;
  // Sets the keys that may read the metric pages from now on.
  virtual void collectorsAuthorized(std::vector<net::CurveKey> keys) = 0;
  // The controller has committed batches of a later incarnation than ours: gives the one to go on
  // with, above `committed`.
  virtual std::uint64_t laterIncarnation(std::uint64_t committed) = 0;
};

class ControlClient {
 public:
  enum class State { kConnecting, kRegistering, kRefused, kRegistered, kClosed };

  static constexpr std::size_t kMaxInFlight = 8;
  static constexpr std::size_t kMaxInFlightBytes = 8U << 20;
  static constexpr std::size_t kMaxMessagesPerRun = 256;
  // Without an answer: then the controller counts as gone. That its host is, the connection notices
  // much sooner; a controller that has the windows of thousands of agents before it is only busy.
  static constexpr Nanos kSilence = 30 * kSecond;
  static constexpr Nanos kUnreached = 3 * kSecond;  // without a first connection: then it is said
  static constexpr Nanos kRetry = kSecond;          // after a refusal
  // While there is no connection: how often handshakes are looked at, with keys; and how long one
  // socket tries, without.
  static constexpr Nanos kLook = 500 * kMillisecond;
  static constexpr Nanos kReopen = 10 * kSecond;
  // Between two registrations on one connection because of other addresses or endpoints.
  static constexpr Nanos kRegisterPause = 100 * kMillisecond;
  // Batches that stay without an acknowledgement, although the controller has answered what was
  // sent after them, are sent again after this; each further time backs off.
  static constexpr Nanos kFirstResend = 5 * kSecond;
  static constexpr Nanos kMaxResend = kMinute;

  // All of them outlive the client.
  ControlClient(net::ZmqContext& context, ControlOptions options, BatchSource& batches,
                ControlOwner& owner);

  // `kept` is the plan of an earlier run, or nullptr.
  Status start(Nanos now_mono, std::shared_ptr<const plan::Plan> kept);
  void run(Nanos now_mono);
  // Says goodbye and closes; nothing but destruction may follow. The message gets 200 ms to leave.
  void goodbye();
  // Registers again: with these, or with the endpoints that the owner has now.
  void setAddresses(std::vector<IpAddress> addresses, Nanos now_mono);
  void endpointsChanged(Nanos now_mono);
  // Leaves the controller for another one; what it has not acknowledged goes there. `keys`: what it
  // may have, as in ControlKeys; none without keys of this agent's own. A controller at the address
  // of before, with a key that is among them where there are keys, is not left.
  void setController(std::string controller, std::vector<net::CurveKey> keys, Nanos now_mono);

  // False: not registered, so it was dropped.
  bool send(const wire::BurstReport& report);

  // Another one after a run() that has made a new connection.
  int descriptor() const { return socket_.descriptor(); }
  Nanos deadline() const;  // when run() is due at the latest, CLOCK_MONOTONIC

  State state() const { return state_; }
  const ControlCounters& counters() const { return counters_; }
  const ClockFilter& clock() const { return clock_; }
  std::uint64_t planHash() const { return plan_hash_; }
  std::uint64_t incarnation() const { return options_.incarnation; }
  std::size_t inFlight() const { return in_flight_.size(); }

 private:
  struct InFlight {
    wire::BatchId id;
    std::size_t bytes = 0;
  };

  // control_client.cpp: the connection's life
  void receiveAll(Nanos now);
  void checkConnection(Nanos now);
  void openSocket(Nanos now);
  Status connectSocket(Nanos now);
  void checkHandshake(Nanos now);
  void sayHandshakeFault(net::HandshakeFault fault);
  void doWhatIsDue(Nanos now);
  void loseConnection(const char* why);
  bool sendMessage(const wire::AgentMessage& message);
  void sendRegister(Nanos now);
  void registerAgain(Nanos now);
  void retryLater(Nanos due);
  void sendHeartbeat(Nanos now);
  void expectAnswer(Nanos now);

  // control_inbox.cpp: what the controller says
  void takeFrame(const std::string& frame, Nanos now);
  void take(const wire::Registered& registered, Nanos now);
  void take(const wire::Refused& refused, Nanos now);
  void take(const wire::HeartbeatReply& reply, Nanos now);
  void take(const wire::PlanUpdate& update, Nanos now);
  void take(const wire::EndpointUpdate& update, Nanos now);
  void take(const wire::BatchAck& ack, Nanos now);
  void take(const wire::BurstOrder& order);
  void take(const wire::CollectorKeys& collectors);

  // control_outbox.cpp: batches on their way
  void sendBatches(Nanos now);
  void showNewest();
  void restartBatches();
  void readUpTo(Nanos sent_mono, Nanos now);
  void acknowledged(wire::BatchId id, Nanos now);

  net::ZmqContext& context_;
  ControlOptions options_;
  BatchSource& batches_;
  ControlOwner& owner_;
  net::ZmqDealer socket_;
  State state_ = State::kConnecting;
  ControlCounters counters_;
  ClockFilter clock_;
  std::shared_ptr<const plan::Plan> plan_;
  std::shared_ptr<const PageOwners> told_owners_;  // since the registration
  std::uint64_t plan_hash_ = 0;

  Nanos heartbeat_interval_ = kSecond;
  Nanos heartbeat_due_ = 0;
  Nanos retry_due_ = 0;
  Nanos registered_at_ = 0;
  Nanos register_sent_ = 0;
  bool register_due_ = false;   // what was registered is not so any more
  Nanos warn_due_ = 0;          // no first connection until then: say so
  Nanos unanswered_since_ = 0;  // 0: nothing is waited for
  bool more_waits_ = false;     // run() has to be called again
  std::size_t key_at_ = 0;      // of the controller's keys: the one it is expected to have
  Nanos look_due_ = 0;
  Nanos opened_at_ = 0;
  bool handshake_failed_ = false;  // the socket has to be opened again
  std::string handshake_said_;     // what was logged of failing handshakes
  std::string refusal_;            // being refused was logged with these words
  Nanos complaint_due_ = 0;        // no word about refused messages before
  bool loss_logged_ = false;
  bool bad_plan_logged_ = false;
  bool bad_endpoints_ = false;  // the last update did not fit: all of the table is asked for

  std::deque<InFlight> in_flight_;
  std::size_t in_flight_bytes_ = 0;
  wire::BatchId acknowledged_;  // known to be committed
  wire::BatchId sent_;          // the last one sent on this connection
  wire::BatchId newest_sent_;   // ever
  wire::BatchId shown_;         // the controller has seen what is up to it, or newer ones
  bool was_away_ = true;        // from the controller, since it has seen anything
  std::size_t limit_ = kMaxInFlight;
  Nanos flight_began_ = 0;  // the oldest in flight was sent by then
  Nanos resend_due_ = kNever;
  Backoff resend_{kFirstResend, kMaxResend};
};

}  // namespace pingloom::agent
