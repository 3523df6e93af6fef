// The part of ControlClient that handles the controller's messages. They come from the network, so
// each is checked against the state in which it arrives.
#include <google/protobuf/arena.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "agent/control_client.h"
#include "common/host_port.h"
#include "common/log.h"
#include "common/text.h"
#include "control.pb.h"
#include "plan/plan_codec.h"
#include "wire/control_protocol.h"

namespace pingloom::agent {
namespace {

constexpr Nanos kMinHeartbeat = 100 * kMillisecond;
constexpr Nanos kMaxHeartbeat = kSecond;  // several must be unanswered within kSilence
constexpr std::size_t kMaxRefusalText = 500;

// Returns nullopt if the addresses of a collector are malformed or too many.
std::optional<std::vector<IpAddress>> readCollectorAddresses(const wire::CollectorAddresses& in) {
  if (static_cast<std::size_t>(in.addresses_size()) > wire::kMaxCollectorAddresses) {
    return std::nullopt;
  }
  std::vector<IpAddress> out;
  for (const std::string& bytes : in.addresses()) {
    const auto address = IpAddress::fromWire(bytes);
    if (!address) return std::nullopt;
    out.push_back(*address);
  }
  return out;
}

// Returns nullopt if the message breaks a rule of docs/control-messages.md.
std::optional<std::vector<AuthorizedCollector>> readCollectors(const wire::CollectorKeys& in) {
  if (static_cast<std::size_t>(in.keys_size()) > wire::kMaxCollectors) return std::nullopt;
  if (in.addresses_size() > in.keys_size()) return std::nullopt;
  std::unordered_map<std::string, std::vector<IpAddress>> places;
  for (const wire::CollectorAddresses& one : in.addresses()) {
    auto addresses = readCollectorAddresses(one);
    if (!addresses) return std::nullopt;
    places[one.key()] = std::move(*addresses);
  }
  std::vector<AuthorizedCollector> out;
  for (const std::string& bytes : in.keys()) {
    const auto key = net::CurveKey::fromWire(bytes);
    if (!key) return std::nullopt;
    out.push_back({*key, std::move(places[bytes])});
  }
  return out;
}

}  // namespace

void ControlClient::takeFrame(const std::string& frame, Nanos now) {
  google::protobuf::Arena arena;  // an endpoint table consists of thousands of small messages
  auto& message = *google::protobuf::Arena::CreateMessage<wire::ControllerMessage>(&arena);
  if (!message.ParseFromString(frame)) {
    ++counters_.bad_messages;
    return;
  }
  switch (message.body_case()) {
    case wire::ControllerMessage::kRegistered:
      take(message.registered(), now);
      break;
    case wire::ControllerMessage::kRefused:
      take(message.refused(), now);
      break;
    case wire::ControllerMessage::kRedirect:
      take(message.redirect(), now);
      return;
    case wire::ControllerMessage::kHeartbeatReply:
      take(message.heartbeat_reply(), now);
      break;
    case wire::ControllerMessage::kPlan:
      take(message.plan(), now);
      break;
    case wire::ControllerMessage::kEndpoints:
      take(message.endpoints(), now);
      break;
    case wire::ControllerMessage::kAck:
      take(message.ack(), now);
      break;
    case wire::ControllerMessage::kBurst:
      take(message.burst());
      break;
    case wire::ControllerMessage::kCollectors:
      take(message.collectors());
      break;
    // An agent never asks for these on this connection.
    case wire::ControllerMessage::kJoined:
    case wire::ControllerMessage::kRelays:
    case wire::ControllerMessage::kBurstReport:
      ++counters_.unexpected_messages;
      return;
    case wire::ControllerMessage::BODY_NOT_SET:
      ++counters_.bad_messages;
      return;
  }
  unanswered_since_ = state_ == State::kRegistering ? unanswered_since_ : 0;
}

void ControlClient::take(const wire::Registered& registered, Nanos now) {
  if (state_ != State::kRegistering) {
    ++counters_.unexpected_messages;
    return;
  }
  const wire::BatchId committed{registered.acked_incarnation(), registered.acked_sequence()};
  if (committed.incarnation > options_.incarnation) {
    // The agent's batches would be dropped as old, because the state directory was lost and the
    // clock is behind. It continues with a later incarnation.
    if (committed.incarnation < wire::kMaxIncarnation) {
      options_.incarnation = owner_.laterIncarnation(committed.incarnation);
    }
    retryLater(now + kRetry);
    return;
  }
  ++counters_.registrations;
  choice_.registered();
  heartbeat_interval_ =
      std::clamp(registered.heartbeat_interval_ns(), kMinHeartbeat, kMaxHeartbeat);
  heartbeat_due_ = now;
  told_owners_ = nullptr;
  told_counters_ = nullptr;
  state_ = State::kRegistered;
  unanswered_since_ = 0;
  registered_at_ = now;
  if (!refusal_.empty() || !handshake_said_.empty()) {
    log::info("controller {} accepts this agent now", choice_.current());
  }
  refusal_.clear();
  handshake_said_.clear();
  if (std::exchange(loss_logged_, false) || counters_.registrations == 1) {
    log::info("registered with controller {} as {}", choice_.current(), options_.host);
  }
  acknowledged_ = committed;
  batches_.acknowledge(committed);
  // Batches from the outage are only delivered; batches measured from now on are also shown.
  if (std::exchange(was_away_, false)) shown_ = batches_.newest();
  restartBatches();
}

void ControlClient::take(const wire::Refused& refused, Nanos now) {
  if (refused.reason() == wire::Refused::NOT_REGISTERED) {
    // Each message in flight gets a refusal; the first one is enough.
    if (state_ != State::kRegistered) return;
    limit_ = 1;  // batches may have failed to commit; one batch tests whether they succeed now
    registerAgain(now);
    return;
  }
  ++counters_.refusals;
  std::string text = wire::Refused::Reason_Name(refused.reason()) + ": " +
                     asOneLine(refused.text(), kMaxRefusalText);
  if (refused.reason() == wire::Refused::BAD_MESSAGE && state_ == State::kRegistered) {
    // A single message, or one report of a batch, was refused; the rest was accepted.
    if (now >= complaint_due_) {
      log::warning("controller {} complains: {} (others are counted for a minute)",
                   choice_.current(), text);
      complaint_due_ = now + kMinute;
    }
    return;
  }
  if (text != refusal_) {
    // After a crash the agent's own former lease may cause this for two seconds.
    const bool may_pass = refused.reason() == wire::Refused::DUPLICATE_HOST ||
                          refused.reason() == wire::Refused::DUPLICATE_ADDRESS;
    log::at(may_pass ? log::Level::kWarning : log::Level::kError,
            "controller {} refuses this agent: {}; trying again every second", choice_.current(),
            text);
    refusal_ = std::move(text);
  }
  retryLater(now + kRetry);
}

// A redirect that makes no sense is declined: the controller has let go of this agent, so it asks
// to stay there. A controller sends no agent to itself.
void ControlClient::take(const wire::Redirect& redirect, Nanos now) {
  if (state_ != State::kRegistering && state_ != State::kRegistered) {
    ++counters_.unexpected_messages;
    return;
  }
  auto controller = redirect.controller().size() <= wire::kMaxController
                        ? parseHostPort(redirect.controller(), wire::kDefaultControlPort)
                        : makeError("redirect", "is too long");
  if (controller && isUnspecified(*controller)) {
    controller = makeError("redirect", "has an unspecified address");
  }
  if (!controller || !choice_.mayFollow() || *controller == choice_.current()) {
    ++(controller ? counters_.unexpected_messages : counters_.bad_messages);
    choice_.stay();
    if (state_ == State::kRegistering) retryLater(now + kRetry);
    return;
  }
  ++counters_.redirects;
  log::info("controller {} sends this agent to {}", choice_.current(), *controller);
  choice_.follow(std::move(*controller));
  moveTo(now);
}

void ControlClient::take(const wire::HeartbeatReply& reply, Nanos now) {
  const bool ours = (state_ == State::kRegistered || state_ == State::kRegistering) &&
                    reply.agent_mono_ns() <= now && reply.agent_mono_ns() > now - kMinute &&
                    reply.controller_utc_ns() > 0;
  if (!ours) {
    ++counters_.unexpected_messages;
    return;
  }
  readUpTo(reply.agent_mono_ns(), now);
  clock_.add(reply.agent_mono_ns(), reply.controller_utc_ns(), now);
  owner_.clockOffsetChanged(*clock_.offset());
}

void ControlClient::take(const wire::PlanUpdate& update, Nanos now) {
  if (state_ != State::kRegistered) {
    ++counters_.unexpected_messages;
    return;
  }
  // A controller that has heard no confirmation for a while sends an update again.
  if (update.hash() == plan_hash_ && plan_ != nullptr) {
    heartbeat_due_ = now;
    return;
  }
  auto decoded = plan::decode(update, plan_.get());
  if (!decoded) {
    ++counters_.plans_refused;
    if (!std::exchange(bad_plan_logged_, true)) {
      log::error("the plan from controller {} does not fit ({}); asking for a complete one",
                 choice_.current(), decoded.error().text());
    }
    // The plan stays in force; the controller is only told that the agent holds none, so that it
    // sends the whole plan.
    plan_hash_ = 0;
    if (update.base_hash() == 0) {
      retryLater(now + kRetry);
    } else {
      registerAgain(now);
    }
    return;
  }
  bad_plan_logged_ = false;
  ++counters_.plans_taken;
  plan_ = std::make_shared<const plan::Plan>(std::move(*decoded));
  plan_hash_ = update.hash();
  heartbeat_due_ = now;  // tells the controller that the plan is here
  owner_.planChanged(plan_);
}

void ControlClient::take(const wire::EndpointUpdate& update, Nanos now) {
  if (state_ != State::kRegistered) {
    ++counters_.unexpected_messages;
    return;
  }
  const auto taken = owner_.endpointsPushed(update);
  if (taken) {
    ++counters_.endpoint_updates_taken;
    bad_endpoints_ = false;
    return;
  }
  ++counters_.endpoint_updates_refused;
  if (!std::exchange(bad_endpoints_, true)) {
    log::error("the endpoints from controller {} do not fit ({}); asking for all of them",
               choice_.current(), taken.error().text());
  }
  if (update.base_version() == 0) {
    retryLater(now + kRetry);
  } else {
    registerAgain(now);
  }
}

void ControlClient::take(const wire::BurstOrder& order) {
  if (state_ != State::kRegistered) {
    ++counters_.unexpected_messages;
    return;
  }
  owner_.burstOrdered(order);
}

void ControlClient::take(const wire::CollectorKeys& message) {
  if (state_ != State::kRegistered) {
    ++counters_.unexpected_messages;
    return;
  }
  auto collectors = readCollectors(message);
  if (!collectors) {
    ++counters_.bad_messages;
    return;
  }
  owner_.collectorsAuthorized(std::move(*collectors));
}

void ControlClient::take(const wire::BatchAck& ack, Nanos now) {
  const wire::BatchId id{ack.incarnation(), ack.sequence()};
  if (id > newest_sent_) {
    ++counters_.unexpected_messages;
    return;
  }
  acknowledged(id, now);
}

}  // namespace pingloom::agent
