// The agent's side of the control protocol (docs/control-messages.md): it registers, sends
// heartbeats, learns the controller's clock, takes plans and endpoint tables, and delivers batches
// until they are acknowledged. A lifecycle in named states:
//
//   connecting -> registering -> registered      and back to connecting when the connection is lost
//                  ^        |        |           or nothing is heard for kSilence
//                  |        v        v
//                  +----- refused <--+           tries again after kRetry
// If there are several controllers, it goes on to the next one when one cannot be reached, and
// follows redirects (controller_choice.h).
// It has no thread: the owner polls descriptor() and calls run() when it is readable, when
// deadline() has passed, and after it has added a batch. One thread can run 2,000 clients. Bounds:
// kMaxInFlight batches and kMaxInFlightBytes in flight, as many shown in one call,
// kMaxMessagesPerRun messages handled in one call, one plan.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/batch_source.h"
#include "agent/clock_filter.h"
#include "agent/controller_choice.h"
#include "common/address.h"
#include "common/backoff.h"
#include "common/error.h"
#include "common/nic_counter.h"
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
class PathReport;
class PlanUpdate;
class Redirect;
class Refused;
class Registered;
}  // namespace pingloom::wire

namespace pingloom::agent {

// The keys that encrypt and authenticate the control connection.
struct ControlKeys {
  net::CurvePair own;
  // never empty; several while the controller's key is being replaced
  std::vector<net::CurveKey> controller;
};

struct ControlOptions {
  std::vector<std::string> controllers;  // HOST:PORT each; at least one
  std::string host;                      // the agent's id
  std::uint64_t incarnation = 0;
  std::vector<IpAddress> addresses;
  std::uint16_t port = 0;
  std::string software_version;
  std::string pages;                // ADDRESS:PORT for collectors; "" without metric pages
  std::optional<ControlKeys> keys;  // nullopt stands for plaintext
};

// The counters since the agent's start that a heartbeat reports.
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
  std::uint64_t redirects = 0;
  std::uint64_t refusals = 0;
  std::uint64_t connections_lost = 0;
  std::uint64_t handshakes_failed = 0;
  std::uint64_t bad_messages = 0;         // malformed, out of bounds, or of several frames
  std::uint64_t unexpected_messages = 0;  // well-formed, but not expected in this state
  std::uint64_t plans_taken = 0;
  std::uint64_t plans_refused = 0;
  std::uint64_t endpoint_updates_taken = 0;
  std::uint64_t endpoint_updates_refused = 0;
  std::uint64_t batches_sent = 0;  // includes repetitions
  std::uint64_t batches_resent = 0;
  std::uint64_t batches_shown = 0;  // sent out of order to be shown
  std::uint64_t batches_acknowledged = 0;
};

// A collector that may read this agent's metric pages.
struct AuthorizedCollector {
  net::CurveKey key;
  // Its RDMA endpoint may be at one of these, beside the address that it connects from.
  std::vector<IpAddress> addresses;
};

// run() calls these.
class ControlOwner {
 public:
  virtual ~ControlOwner() = default;
  virtual void planChanged(std::shared_ptr<const plan::Plan> plan) = 0;
  virtual void clockOffsetChanged(Nanos offset) = 0;  // controller UTC - CLOCK_MONOTONIC
  virtual AgentTotals totals() = 0;
  // Returns the owners of the host's metric pages, or nullptr if it serves none. The list is sent
  // only when the object is replaced.
  virtual std::shared_ptr<const PageOwners> pageOwners() = 0;
  // Returns the newest counters of NICs and ports, or nullptr before they were read. What has moved
  // is sent when the object is replaced.
  virtual std::shared_ptr<const NicPorts> nicCounters() = 0;
  // Return the RDMA endpoints to register, and the version of the endpoint table.
  virtual std::vector<plan::Endpoint> endpoints() = 0;
  virtual plan::EndpointVersion heldEndpoints() = 0;
  // Returns those of the registered addresses for which this host has an RDMA device.
  virtual std::vector<IpAddress> rdmaAddresses() = 0;
  // Returns an error if the update does not match the held table; the client then requests the
  // whole table.
  virtual Status endpointsPushed(const wire::EndpointUpdate& update) = 0;
  // Starts a burst, whose results ControlClient::send() takes.
  virtual void burstOrdered(const wire::BurstOrder& order) = 0;
  // Sets the collectors that may read the metric pages from now on.
  virtual void collectorsAuthorized(std::vector<AuthorizedCollector> collectors) = 0;
  // Returns the incarnation to continue with, above `committed`, because the controller has
  // committed batches of a later incarnation.
  virtual std::uint64_t laterIncarnation(std::uint64_t committed) = 0;
};

class ControlClient {
 public:
  enum class State { kConnecting, kRegistering, kRefused, kRegistered, kClosed };

  static constexpr std::size_t kMaxInFlight = 8;
  static constexpr std::size_t kMaxInFlightBytes = 8U << 20;
  static constexpr std::size_t kMaxMessagesPerRun = 256;
  // Without an answer for this long the controller counts as gone. The connection notices a lost
  // host much sooner, and a controller that handles the windows of thousands of agents may just be
  // busy.
  static constexpr Nanos kSilence = 30 * kSecond;
  // The same where there is another controller to go to.
  static constexpr Nanos kSilenceOfOne = 10 * kSecond;
  // time without a first connection until that is logged
  static constexpr Nanos kUnreached = 3 * kSecond;
  static constexpr Nanos kRetry = kSecond;  // delay after a refusal
  // While there is no connection: how often handshakes are checked with keys, and how long one
  // socket tries without.
  static constexpr Nanos kLook = 500 * kMillisecond;
  static constexpr Nanos kReopen = 10 * kSecond;
  // The minimum time between two registrations on one connection because of changed addresses or
  // endpoints.
  static constexpr Nanos kRegisterPause = 100 * kMillisecond;
  // Batches without an acknowledgement are sent again after this time if the controller has
  // answered later messages; further repetitions back off.
  static constexpr Nanos kFirstResend = 5 * kSecond;
  static constexpr Nanos kMaxResend = kMinute;

  // REQUIRES: all of them outlive the client.
  ControlClient(net::ZmqContext& context, ControlOptions options, BatchSource& batches,
                ControlOwner& owner);

  // `kept` is the plan of an earlier run, or nullptr.
  Status start(Nanos now_mono, std::shared_ptr<const plan::Plan> kept);
  void run(Nanos now_mono);
  // Says goodbye and closes. The message gets 200 ms to leave. Only destruction may follow.
  void goodbye();
  // These register again with the given addresses or pages, or the owner's present endpoints.
  void setAddresses(std::vector<IpAddress> addresses, Nanos now_mono);
  void endpointsChanged(Nanos now_mono);
  void setPages(std::string pages, Nanos now_mono);
  // Changes to other controllers, which get the unacknowledged batches. `keys` are the keys that
  // they may have, as in ControlKeys, and empty if this agent has no keys. Nothing happens if the
  // addresses are the same and the present key is among `keys`.
  void setControllers(std::vector<std::string> controllers, std::vector<net::CurveKey> keys,
                      Nanos now_mono);

  // Returns false and drops the report if the agent is not registered.
  bool send(const wire::BurstReport& report);
  // Does the same; the connection preserves the order of reports.
  bool send(const wire::PathReport& report);

  // It changes when run() makes a new connection.
  int descriptor() const { return socket_.descriptor(); }
  Nanos deadline() const;  // the latest time for run(), CLOCK_MONOTONIC

  State state() const { return state_; }
  const ControlCounters& counters() const { return counters_; }
  const ClockFilter& clock() const { return clock_; }
  std::uint64_t planHash() const { return plan_hash_; }
  const std::string& controller() const { return choice_.current(); }  // the present one
  std::uint64_t incarnation() const { return options_.incarnation; }
  std::size_t inFlight() const { return in_flight_.size(); }

 private:
  struct InFlight {
    wire::BatchId id;
    std::size_t bytes = 0;
  };

  // Defined in control_client.cpp: the lifecycle of the connection.
  void receiveAll(Nanos now);
  void checkConnection(Nanos now);
  void openSocket(Nanos now);
  Status connectSocket(Nanos now);
  void checkHandshake(Nanos now);
  void sayHandshakeFault(net::HandshakeFault fault);
  void doWhatIsDue(Nanos now);
  void loseConnection(const char* why);
  void tryNext(Nanos now);
  void moveTo(Nanos now_mono);
  Nanos silence() const { return choice_.several() ? kSilenceOfOne : kSilence; }
  bool sendMessage(const wire::AgentMessage& message);
  void sendRegister(Nanos now);
  void registerAgain(Nanos now);
  void retryLater(Nanos due);
  void sendHeartbeat(Nanos now);
  void expectAnswer(Nanos now);

  // Defined in control_inbox.cpp: messages of the controller.
  void takeFrame(const std::string& frame, Nanos now);
  void take(const wire::Registered& registered, Nanos now);
  void take(const wire::Refused& refused, Nanos now);
  void take(const wire::Redirect& redirect, Nanos now);
  void take(const wire::HeartbeatReply& reply, Nanos now);
  void take(const wire::PlanUpdate& update, Nanos now);
  void take(const wire::EndpointUpdate& update, Nanos now);
  void take(const wire::BatchAck& ack, Nanos now);
  void take(const wire::BurstOrder& order);
  void take(const wire::CollectorKeys& message);

  // Defined in control_outbox.cpp: batches to the controller.
  void sendBatches(Nanos now);
  void showNewest();
  void restartBatches();
  void readUpTo(Nanos sent_mono, Nanos now);
  void acknowledged(wire::BatchId id, Nanos now);

  net::ZmqContext& context_;
  ControlOptions options_;
  BatchSource& batches_;
  ControlOwner& owner_;
  ControllerChoice choice_;
  net::ZmqDealer socket_;
  State state_ = State::kConnecting;
  ControlCounters counters_;
  ClockFilter clock_;
  std::shared_ptr<const plan::Plan> plan_;
  std::shared_ptr<const PageOwners> told_owners_;  // the list sent since the registration
  std::shared_ptr<const NicPorts> told_counters_;  // likewise
  std::uint64_t plan_hash_ = 0;

  Nanos heartbeat_interval_ = kSecond;
  Nanos heartbeat_due_ = 0;
  Nanos retry_due_ = 0;
  Nanos registered_at_ = 0;
  Nanos register_sent_ = 0;
  bool register_due_ = false;   // whether the registered data have changed
  Nanos warn_due_ = 0;          // when to log that there is no first connection
  Nanos unanswered_since_ = 0;  // 0 if no answer is outstanding
  bool more_waits_ = false;     // whether run() has to be called again
  std::size_t key_at_ = 0;      // index of the key that the controller is expected to have
  Nanos look_due_ = 0;
  Nanos opened_at_ = 0;
  Nanos next_due_ = kNever;        // when another controller is tried, if there is no connection
  bool handshake_failed_ = false;  // whether the socket has to be opened again
  std::string handshake_said_;     // the last logged failure of handshakes
  std::string refusal_;            // the last logged refusal
  Nanos complaint_due_ = 0;        // when refused messages may be logged again
  bool loss_logged_ = false;
  bool bad_plan_logged_ = false;
  bool bad_endpoints_ = false;  // whether to request the whole table after a bad update

  std::deque<InFlight> in_flight_;
  std::size_t in_flight_bytes_ = 0;
  wire::BatchId acknowledged_;  // the last batch known to be committed
  wire::BatchId sent_;          // the last one sent on this connection
  wire::BatchId newest_sent_;   // the newest batch ever sent
  wire::BatchId shown_;   // the controller has seen everything up to this batch, or newer ones
  bool was_away_ = true;  // whether the controller was unreachable since it last saw a batch
  std::size_t limit_ = kMaxInFlight;
  Nanos flight_began_ = 0;  // when the oldest batch in flight was sent
  Nanos resend_due_ = kNever;
  Backoff resend_{kFirstResend, kMaxResend};
};

}  // namespace pingloom::agent
