// The server for agents: registration, heartbeats, plans, endpoints, batches, refusals
// (docs/control-messages.md). All input is hostile: it is bounded, checked, and counted by reason
// when refused. It has no thread; the controller's loop calls receive() when the socket is
// readable, and runDue() at nextDue(). The control thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "controller/control/access.h"
#include "controller/control/batch_intake.h"
#include "controller/control/batch_marks.h"
#include "controller/control/burst_relay.h"
#include "controller/control/bursts.h"
#include "controller/control/counter_log.h"
#include "controller/control/endpoint_push.h"
#include "controller/control/homes.h"
#include "controller/control/join_desk.h"
#include "controller/control/path_intake.h"
#include "controller/control/plan_history.h"
#include "controller/control/registry.h"
#include "controller/control/relay_feed.h"
#include "controller/history/ledger_writer.h"
#include "net/zmq_router.h"

namespace pingloom::controller {

class ControlServer {
 public:
  static constexpr std::size_t kMessagesAtOnce = 1024;
  static constexpr Nanos kMaxTurn = 20 * kMillisecond;
  // Plans within this time of a push are coalesced into the next one.
  static constexpr Nanos kCoalesce = 50 * kMillisecond;
  // pushes the plan again to an agent that lacks it
  static constexpr Nanos kPushAgain = 3 * kSecond;
  // limit for all messages except batches
  static constexpr std::size_t kMaxOtherBytes = 256U << 10;
  static constexpr std::size_t kMaxJoinBytes = 16U << 10;
  // When controllers come or go, agents are sent to their home at this rate.
  static constexpr Nanos kMovePause = 100 * kMillisecond;
  static constexpr std::size_t kMovesAtOnce = 20;

  // REQUIRES: all of them outlive the server. `access` and `desk` are nullptr without keys, and
  // every agent is then admitted. `homes`, `foreign` and `feed` are nullptr if this
  // controller works alone.
  ControlServer(net::ZmqRouter& socket, Registry& registry, BatchMarks& marks, BatchIntake& intake,
                LedgerWriter& ledger, BurstBoard& bursts, PathIntake& paths,
                std::filesystem::path endpoints_file, Nanos started_mono, Access* access = nullptr,
                JoinDesk* desk = nullptr, Homes* homes = nullptr,
                const ForeignEndpoints* foreign = nullptr, RelayFeed* feed = nullptr)
      : socket_(socket),
        registry_(registry),
        marks_(marks),
        intake_(intake),
        ledger_(ledger),
        endpoints_(socket, registry, std::move(endpoints_file), started_mono, foreign),
        bursts_(socket, registry, bursts),
        burst_relay_(socket, registry, feed),
        paths_(paths),
        access_(access),
        desk_(desk),
        homes_(homes),
        feed_(feed),
        move_due_mono_(homes == nullptr ? kNever : started_mono) {}

  // Pushes the plan to all agents: at once, or in runDue() if another was pushed within kCoalesce.
  // A plan need not wait for the grid: until the grid has it, no message is handled.
  void setPlan(std::shared_ptr<const plan::Plan> plan, Instant now);
  std::uint64_t planHash() const { return plans_.currentHash(); }
  // Applies a new list of authorised keys. Agents that it no longer admits lose their lease and are
  // told why, and agents get the collectors' keys. REQUIRES: keys are configured.
  void authorize(std::shared_ptr<const keys::AuthorizedKeys> list,
                 std::shared_ptr<const keys::JoinBook> joins, Instant now);
  // Answers requests to join. Call it after authorize() with what they have changed.
  void answerJoins(const std::vector<JoinDesk::Answer>& answers, Instant now);
  const JoinCounts& joins() const { return joins_; }
  // Takes the result of Registry::takeChanged(), pushes changed endpoints to all agents, and tells
  // the other controllers.
  void presenceChanged(const std::vector<IpAddress>& addresses, Instant now) {
    endpoints_.changed(addresses, now);
    if (feed_ != nullptr) feed_->presenceChanged(addresses, now);
  }

  // Handles waiting messages for at most kMaxTurn.
  enum class Waiting { kNothing, kMessages, kLedger };  // what is left to do, or what it waits for
  Waiting receive(Instant now);
  void acknowledgeCommitted();
  void runDue(Instant now);
  Nanos nextDue() const {  // monotonic
    const Nanos feed_due = feed_ == nullptr ? kNever : feed_->nextDue();
    return std::min(
        {push_due_mono_, endpoints_.nextDue(), bursts_.nextDue(), move_due_mono_, feed_due});
  }

  std::uint64_t agentsSentAway() const { return sent_away_; }
  CounterLog& counterLog() { return counters_; }
  Bursts& bursts() { return bursts_; }

  std::uint64_t messagesRefused() const;
  const std::array<std::uint64_t, 7>& refusedByReason() const { return refused_; }
  // Tells whether an agent changed since the last call.
  bool takeHostsChanged() { return std::exchange(hosts_changed_, false); }

 private:
  void take(net::ZmqRouter::Message message, Instant now);
  void takeBatch(Agent& agent, std::unique_ptr<net::ZmqFrame> frame, Instant now);
  void takeRegister(const net::ZmqRouter::Message& message, const wire::Register& request,
                    Agent* agent, Instant now);
  void takeJoin(const net::ZmqRouter::Message& message, const net::CurveKey& token, Instant now);
  void deny(const net::ZmqRouter::Message& message, const Access::Denial& denial, Instant now);
  void tellCollectors(Agent& agent);  // sends the keys that the agent does not have yet
  void takeHeartbeat(Agent& agent, const wire::Heartbeat& heartbeat, Instant now);
  void nudge(Agent& agent, Instant now);
  void pushDue(Instant now);
  void push(Agent& agent, Instant now);
  void moveAgents(Instant now);
  bool sendAway(const std::string& route, const std::string& host, const Homes::Home& home);
  void noteMove(Agent& agent, const Homes::Home& home, Instant now);
  // Reads any message but a batch into message_.
  bool parse(std::string_view bytes);
  // Takes what only controllers say. Returns false if message_ is nothing of that.
  bool takeFromController(const std::string& route, Instant now);
  void takeFollow(const std::string& route, Instant now);
  void takeBurstOrder(const std::string& route, Instant now);
  void takeBurstReport(const Agent& agent, Instant now);
  void acknowledge(const std::string& route, wire::BatchId id);
  void refuse(const std::string& route, wire::Refused::Reason reason, std::string_view text,
              std::uint64_t times = 1);
  bool send(const std::string& route, const wire::ControllerMessage& message);

  net::ZmqRouter& socket_;
  Registry& registry_;
  BatchMarks& marks_;
  BatchIntake& intake_;
  LedgerWriter& ledger_;
  PlanHistory plans_;
  EndpointPush endpoints_;
  Bursts bursts_;
  BurstRelay burst_relay_;
  PathIntake& paths_;
  CounterLog counters_;
  Access* const access_;
  JoinDesk* const desk_;  // nullptr as access_ is
  Homes* const homes_;
  RelayFeed* const feed_;
  Nanos move_due_mono_;
  bool all_at_home_ = true;
  std::uint64_t sent_away_ = 0;
  JoinCounts joins_{};
  Nanos push_due_mono_ = kNever;
  Nanos pushed_mono_ = -kCoalesce;  // the last time at which a plan went to all agents
  std::array<std::uint64_t, 7> refused_{};
  bool hosts_changed_ = false;
  wire::AgentMessage message_;
  std::string buffer_;
};

}  // namespace pingloom::controller
