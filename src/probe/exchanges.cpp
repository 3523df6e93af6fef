#include "probe/exchanges.h"

#include <algorithm>
#include <limits>

namespace pingloom::probe {
namespace {

constexpr Nanos kVerdictSlack = 20 * kMillisecond;
constexpr Nanos kListenerSlack = 5 * kMillisecond;
// T3 - T2 may come with the next ping's PONG if that ping follows within this time. If it does not,
// an ACK brings T3 - T2 before the exchange expires, provided that the timeout is not too short.
constexpr Nanos kMaxDeferral = kSecond;
constexpr Nanos kMinDeferralTimeout = 200 * kMillisecond;

bool mayDefer(const plan::ProbeSpec& probe) {
  return probe.interval <= kMaxDeferral && probe.timeout >= kMinDeferralTimeout;
}

}  // namespace

Exchange* Exchanges::open(std::uint32_t task, std::uint32_t target, std::uint64_t nonce,
                          const Instant& now) {
  const Nanos lifetime = (*tasks_)[task].assignment->probe.timeout + kWindowGrace;
  Exchange* made = table_.open(lifetime, now);
  if (made == nullptr) return nullptr;
  made->task = task;
  made->target = target;
  made->nonce = nonce;
  made->window = (*tasks_)[task].windows.open(now.mono);
  return made;
}

wire::ProbeMessage Exchanges::pingOf(const Exchange& exchange) const {
  wire::ProbeMessage made;
  made.type = wire::ProbeType::kPing;
  made.clock = static_cast<std::uint8_t>(clock_.source());
  const std::uint32_t payload = (*tasks_)[exchange.task].assignment->probe.payload;
  made.length = static_cast<std::uint16_t>(wire::paddedPing(payload));
  made.id = exchange.id;
  made.nonce = exchange.nonce;
  if (one_off_ || tasks_->isBurst(exchange.task)) return made;
  made.flags = wire::kFlagCounted;
  if (mayDefer((*tasks_)[exchange.task].assignment->probe)) made.flags |= wire::kFlagDeferrable;
  made.probe = (*tasks_)[exchange.task].windows.probeTag();
  made.window = static_cast<std::uint32_t>(exchange.window);
  return made;
}

void Exchanges::sending(std::uint32_t id, const Instant& now) {
  Exchange* exchange = table_.find(id);
  if (exchange == nullptr) return;
  exchange->times.sent = now;
}

void Exchanges::cancel(std::uint32_t id) {
  if (Exchange* exchange = table_.find(id)) table_.release(*exchange);
}

void Exchanges::stamped(std::uint32_t id, std::uint64_t t1) {
  Exchange* exchange = table_.find(id);
  if (exchange == nullptr) return;
  exchange->times.t1 = t1;
  exchange->times.has_t1 = true;
}

// Whether the other side stalled and its timestamps are useless because of that.
bool Exchanges::spoils(const wire::ProbeMessage& message) const {
  return message.stalled() && spoilsBy(message.clock);
}

// Whether a stall of a host whose timestamps come from `clock` makes them useless.
bool Exchanges::spoilsBy(std::uint8_t clock) const {
  return rule_ == StallRule::kSpoils || clock == static_cast<std::uint8_t>(ClockSource::kSoftware);
}

bool Exchanges::stalledMeanwhile(const ExchangeTimes& times) const {
  return (rule_ == StallRule::kSpoils || clock_.source() == ClockSource::kSoftware) &&
         stalls_->stalledDuring(times.sent.mono, times.handled.mono);
}

SocketAddress Exchanges::targetOf(const Exchange& exchange) const {
  const plan::Assignment& assignment = *(*tasks_)[exchange.task].assignment;
  return {assignment.destinations[exchange.target],
          assignment.probe.port != 0 ? assignment.probe.port : port_};
}

PairWindow& Exchanges::windowOf(const Exchange& exchange) {
  return (*tasks_)[exchange.task].windows.windowFor(exchange.target, exchange.window);
}

void Exchanges::tell(PingEvent event, const Exchange& exchange, Nanos now) const {
  if (listener_ == nullptr) return;
  const plan::Assignment& assignment = *(*tasks_)[exchange.task].assignment;
  listener_->pingEvent(event, assignment, assignment.destinations[exchange.target],
                       now - exchange.times.sent.mono);
}

void Exchanges::fail(Exchange& exchange, Failure failure) {
  exchange.state = ExchangeState::kSettled;
  PairWindow& window = windowOf(exchange);
  ++window.sent;
  const bool refused = failure == Failure::kRefused;
  ++(refused ? window.refused : window.unreachable);
  if (listener_ == nullptr) return;
  tell(refused ? PingEvent::kRefused : PingEvent::kUnreachable, exchange, monotonicNow());
}

void Exchanges::failed(std::uint32_t id, Failure failure) {
  Exchange* exchange = table_.find(id);
  if (exchange != nullptr && exchange->state == ExchangeState::kOpen) fail(*exchange, failure);
}

void Exchanges::failedInNetwork(const wire::ProbeMessage& quoted, Failure failure) {
  Exchange* exchange = table_.find(quoted.id);
  if (exchange == nullptr || exchange->nonce != quoted.nonce) return;
  if (exchange->state == ExchangeState::kOpen) fail(*exchange, failure);
}

std::optional<DropReason> Exchanges::answered(const Answer& answer, const Instant& now) {
  Exchange* exchange = table_.find(answer.message.id);
  if (exchange == nullptr) return DropReason::kUnknownId;
  if (exchange->nonce != answer.message.nonce) return DropReason::kNonce;
  if (targetOf(*exchange) != answer.from) return DropReason::kSource;
  if (answer.message.type == wire::ProbeType::kPong) {
    pong(*exchange, answer, now);
    const auto& residences = answer.message.residences;
    for (std::size_t i = 0; i < answer.message.residence_count; ++i) told(residences[i], answer);
  } else {
    ack(*exchange, answer);
  }
  return std::nullopt;
}

void Exchanges::pong(Exchange& exchange, const Answer& answer, const Instant& now) {
  if (exchange.state != ExchangeState::kOpen) {
    ++windowOf(exchange).duplicate;
    return;
  }
  ExchangeTimes& times = exchange.times;
  times.handled = now;
  times.has_t4 = answer.ticks.has_value();
  times.t4 = answer.ticks.value_or(0);
  exchange.stalled |= spoils(answer.message) || stalledMeanwhile(times);
  const Nanos timeout = (*tasks_)[exchange.task].assignment->probe.timeout;
  // Without T1 and T4 it is unknown whether the PONG waited in the socket while this host stalled.
  const bool excused =
      answer.message.stalled() ||
      (!timesFit(times, clock_) && stalls_->stalledDuring(times.sent.mono, now.mono));
  const bool late = !inTime(times, clock_, timeout);
  if (late) tell(PingEvent::kLate, exchange, now.mono);
  if (late && !excused) {
    exchange.state = ExchangeState::kLate;
    ++windowOf(exchange).late;
    return;
  }
  exchange.state = ExchangeState::kAnswered;
  if (times.ack != AckState::kMissing) settle(exchange);
}

void Exchanges::ack(Exchange& exchange, const Answer& answer) {
  const bool no_time = (answer.message.flags & wire::kFlagNoT3) != 0;
  constexpr std::uint64_t kMax = std::numeric_limits<Nanos>::max();
  acknowledge(exchange, spoils(answer.message), no_time ? AckState::kNoTime : AckState::kTime,
              static_cast<Nanos>(std::min(answer.message.responder_ns, kMax)));
}

// A PONG of the pair tells T3 - T2 of an earlier exchange, in place of an ACK. The PONG itself is
// genuine, so it is enough that the other exchange has the same target.
void Exchanges::told(const wire::Residence& residence, const Answer& answer) {
  Exchange* exchange = table_.find(residence.id);
  if (exchange == nullptr || !awaitsAck(*exchange)) return;
  if (targetOf(*exchange) != answer.from) return;
  const bool spoilt = residence.stalled && spoilsBy(answer.message.clock);
  acknowledge(*exchange, spoilt, residence.known ? AckState::kTime : AckState::kNoTime,
              residence.responder_ns);
}

bool Exchanges::awaitsAck(const Exchange& exchange) {
  const bool waits =
      exchange.state == ExchangeState::kOpen || exchange.state == ExchangeState::kAnswered;
  return waits && exchange.times.ack == AckState::kMissing;
}

void Exchanges::acknowledge(Exchange& exchange, bool spoilt, AckState state, Nanos responder_ns) {
  if (!awaitsAck(exchange)) return;
  exchange.stalled |= spoilt;
  exchange.times.ack = state;
  exchange.times.responder_ns = responder_ns;
  if (exchange.state == ExchangeState::kAnswered) settle(exchange);
}

void Exchanges::settle(Exchange& exchange) {
  exchange.state = ExchangeState::kSettled;
  addReceived(judge(exchange.times, clock_, exchange.stalled), windowOf(exchange));
}

Nanos Exchanges::nextWake() const {
  const Nanos expiry = table_.nextExpiry();
  if (expiry == kNever) return kNever;
  if (listener_ == nullptr) return expiry + kVerdictSlack;
  const Nanos overdue = table_.nextOverdue(kWindowGrace);
  return std::min(expiry + kVerdictSlack, overdue == kNever ? kNever : overdue + kListenerSlack);
}

void Exchanges::expire(Nanos now) {
  if (listener_ != nullptr) {
    while (const Exchange* lost = table_.overdue(now, kWindowGrace)) {
      tell(PingEvent::kLost, *lost, now);
    }
  }
  while (Exchange* exchange = table_.expired(now)) {
    if (exchange->state == ExchangeState::kAnswered) {
      settle(*exchange);
    } else if (exchange->state != ExchangeState::kSettled) {
      PairWindow& window = windowOf(*exchange);
      ++window.sent;
      ++window.lost;
      if (exchange->state == ExchangeState::kOpen) lost_(exchange->task, exchange->target);
    }
    table_.release(*exchange);
  }
}

void Exchanges::move(const std::vector<TaskMove>& moves) {
  table_.forEach([&](Exchange& exchange) {
    const TaskMove& move = moves[exchange.task];
    const std::uint32_t target = move.task == kGone ? kGone : move.target(exchange.target);
    if (target == kGone) {
      table_.release(exchange);
      return;
    }
    exchange.task = move.task;
    exchange.target = target;
  });
}

void Exchanges::settleAndForgetAll() {
  table_.forEach([&](Exchange& exchange) {
    if (exchange.state == ExchangeState::kAnswered) settle(exchange);
    table_.release(exchange);
  });
}

}  // namespace pingloom::probe
