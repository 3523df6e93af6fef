#include "agent/control_client.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "common/log.h"
#include "control.pb.h"
#include "wire/control_protocol.h"
#include "wire/nic_counter_codec.h"
#include "wire/page_owner_codec.h"

namespace pingloom::agent {
namespace {

constexpr int kGoodbyeLingerMs = 200;

}  // namespace

ControlClient::ControlClient(net::ZmqContext& context, ControlOptions options, BatchSource& batches,
                             ControlOwner& owner)
    : context_(context),
      options_(std::move(options)),
      batches_(batches),
      owner_(owner),
      choice_(options_.host, options_.controllers) {}

Status ControlClient::start(Nanos now_mono, std::shared_ptr<const plan::Plan> kept) {
  plan_ = std::move(kept);
  plan_hash_ = plan_ == nullptr ? 0 : plan::hash(*plan_);
  warn_due_ = now_mono + kUnreached;
  next_due_ = now_mono + choice_.patience();
  if (auto status = connectSocket(now_mono); !status) return status;
  run(now_mono);
  return {};
}

void ControlClient::run(Nanos now_mono) {
  if (state_ == State::kClosed) return;
  receiveAll(now_mono);
  checkConnection(now_mono);
  doWhatIsDue(now_mono);
  sendBatches(now_mono);
  // The descriptor is edge-triggered, and every check consumes its events, so later events would be
  // missed without this check.
  const auto socket = socket_.state();
  more_waits_ = socket.readable || socket.connected == (state_ == State::kConnecting);
}

Nanos ControlClient::deadline() const {
  if (state_ == State::kClosed) return std::numeric_limits<Nanos>::max();
  if (more_waits_) return 0;
  Nanos due = std::numeric_limits<Nanos>::max();
  if (state_ == State::kRegistered) {
    due = heartbeat_due_;
    if (register_due_) due = std::min(due, register_sent_ + kRegisterPause);
  }
  if (state_ == State::kRefused || !socket_.isOpen()) due = retry_due_;
  if (state_ == State::kConnecting && !loss_logged_) due = std::min(due, warn_due_);
  if (state_ == State::kConnecting && socket_.isOpen()) {
    due = std::min(due, options_.keys ? look_due_ : opened_at_ + kReopen);
    if (choice_.several()) due = std::min(due, next_due_);
  }
  if (unanswered_since_ != 0) due = std::min(due, unanswered_since_ + silence());
  if (state_ == State::kRegistered && !in_flight_.empty()) due = std::min(due, resend_due_);
  return due;
}

void ControlClient::receiveAll(Nanos now) {
  std::string frame;
  for (std::size_t taken = 0; taken < kMaxMessagesPerRun; ++taken) {
    switch (socket_.receive(frame)) {
      case net::ZmqDealer::Received::kNothing:
        return;
      case net::ZmqDealer::Received::kBad:
        ++counters_.bad_messages;
        break;
      case net::ZmqDealer::Received::kMessage:
        takeFrame(frame, now);
        break;
    }
  }
}

void ControlClient::checkConnection(Nanos now) {
  if (!socket_.isOpen() && now >= retry_due_) openSocket(now);
  const bool connected = socket_.connected();
  if (state_ == State::kConnecting) {
    if (connected) {
      sendRegister(now);
    } else if (now >= warn_due_ && !std::exchange(loss_logged_, true)) {
      log::warning("controller {} cannot be reached; trying on, probing by the kept plan meanwhile",
                   choice_.current());
    }
    if (!connected && choice_.several() && now >= next_due_) return tryNext(now);
    if (!connected) checkHandshake(now);
  } else if (!connected) {
    loseConnection("the connection broke");
    next_due_ = now + choice_.patience();
  } else if (unanswered_since_ != 0 && now - unanswered_since_ >= silence()) {
    loseConnection("it does not answer");
    tryNext(now);
  }
}

// The one that is tried next may be the same.
void ControlClient::tryNext(Nanos now) {
  choice_.failed();
  next_due_ = now + choice_.patience();
  openSocket(now);
}

// Opens a new socket, so that messages of the old connection are not taken for answers.
void ControlClient::openSocket(Nanos now) {
  retry_due_ = now + kRetry;
  if (auto status = connectSocket(now); !status) {
    log::error("{}; trying again", status.error().text());
  }
}

Status ControlClient::connectSocket(Nanos now) {
  handshake_failed_ = false;
  opened_at_ = now;
  net::DealerOptions options;
  if (options_.keys) {
    options.watch_handshakes = true;
    options.curve =
        net::DealerOptions::Curve{options_.keys->own, options_.keys->controller[key_at_]};
  }
  return socket_.open(context_, choice_.current(), options);
}

// Opens the socket again after a failed handshake, with the next of the controller's keys if there
// are several; only the failure of the last key is logged. Without keys no handshake is checked: a
// controller that requires keys is tried again every kReopen and stays unreachable.
void ControlClient::checkHandshake(Nanos now) {
  if (!options_.keys) {
    if (now - opened_at_ >= kReopen) openSocket(now);
    return;
  }
  look_due_ = now + kLook;
  const auto fault = socket_.takeHandshakeFault();
  if (fault != net::HandshakeFault::kNone) {
    ++counters_.handshakes_failed;
    const std::size_t known = options_.keys->controller.size();
    const bool other_key = fault == net::HandshakeFault::kBroken && known > 1;
    if (!std::exchange(handshake_failed_, true) && other_key) key_at_ = (key_at_ + 1) % known;
    if (!other_key || key_at_ == 0) sayHandshakeFault(fault);
  }
  if (handshake_failed_ && now >= retry_due_) openSocket(now);
}

void ControlClient::sayHandshakeFault(net::HandshakeFault fault) {
  std::string text =
      "it hung up during the handshake: is its key the one of 'keys: { controller: ... }'?";
  if (fault == net::HandshakeFault::kKeyRefused) {
    text = "it does not authorise this agent's key " +
           std::string(options_.keys->own.public_key.text()) +
           "; `pingloom keys authorize` there lets it in";
  }
  loss_logged_ = true;
  if (std::exchange(handshake_said_, text) == text) return;
  log::error("controller {}: {}; trying again every second", choice_.current(), text);
}

void ControlClient::doWhatIsDue(Nanos now) {
  if (state_ == State::kRefused && now >= retry_due_) sendRegister(now);
  if (state_ != State::kRegistered) return;
  if (register_due_ && now - register_sent_ >= kRegisterPause) return sendRegister(now);
  if (now >= heartbeat_due_) sendHeartbeat(now);
  if (!in_flight_.empty() && now >= resend_due_) {
    resend_.fail();
    limit_ = 1;
    restartBatches();
  }
}

void ControlClient::loseConnection(const char* why) {
  ++counters_.connections_lost;
  if (!std::exchange(loss_logged_, true)) {
    log::warning("controller {} is gone ({}); probing goes on, results are spooled",
                 choice_.current(), why);
  }
  state_ = State::kConnecting;
  unanswered_since_ = 0;
  resend_.reset();
  was_away_ = true;
  limit_ = kMaxInFlight;
  restartBatches();
}

// Sending takes notice of what has arrived, for which the descriptor does not wake the owner then.
bool ControlClient::sendMessage(const wire::AgentMessage& message) {
  more_waits_ = true;
  return socket_.send(message.SerializeAsString(), {});
}

void ControlClient::expectAnswer(Nanos now) {
  if (unanswered_since_ == 0) unanswered_since_ = now;
}

void ControlClient::sendRegister(Nanos now) {
  wire::AgentMessage message;
  wire::Register& body = *message.mutable_registration();
  body.set_control_version(wire::kControlVersion);
  body.set_host(options_.host);
  body.set_incarnation(options_.incarnation);
  body.set_software_version(options_.software_version);
  body.set_pages(options_.pages);
  for (const IpAddress& address : options_.addresses) body.add_addresses(address.wire());
  body.set_port(options_.port);
  body.set_follows(choice_.mayFollow());
  body.set_plan_hash(plan_hash_);
  for (const plan::Endpoint& endpoint : owner_.endpoints()) {
    plan::encode(endpoint, *body.add_endpoints());
  }
  for (const IpAddress& address : owner_.rdmaAddresses()) body.add_rdma_addresses(address.wire());
  const plan::EndpointVersion held = owner_.heldEndpoints();
  body.set_endpoints_controller(held.controller);
  body.set_endpoints_version(bad_endpoints_ ? 0 : held.number);
  body.set_endpoints_scope(held.scope);
  if (!sendMessage(message)) return;  // not connected after all, which the next run() notices
  register_sent_ = now;
  register_due_ = false;
  restartBatches();
  state_ = State::kRegistering;
  expectAnswer(now);
}

// Registers at most once per kRetry, whatever the controller answers.
void ControlClient::registerAgain(Nanos now) {
  if (now - registered_at_ >= kRetry) {
    sendRegister(now);
  } else {
    retryLater(registered_at_ + kRetry);
  }
}

void ControlClient::retryLater(Nanos due) {
  state_ = State::kRefused;
  unanswered_since_ = 0;
  retry_due_ = due;
  restartBatches();
}

void ControlClient::sendHeartbeat(Nanos now) {
  wire::AgentMessage message;
  wire::Heartbeat& body = *message.mutable_heartbeat();
  body.set_incarnation(options_.incarnation);
  body.set_agent_mono_ns(now);
  body.set_plan_hash(plan_hash_);
  const AgentTotals totals = owner_.totals();
  wire::AgentStatus& status = *body.mutable_status();
  status.set_spooled_batches(totals.spooled_batches);
  status.set_spooled_bytes(totals.spooled_bytes);
  status.set_spool_dropped(totals.spool_dropped);
  status.set_pings_sent(totals.pings_sent);
  status.set_pings_skipped(totals.pings_skipped);
  status.set_stalls(totals.stalls);
  status.set_refused_packets(totals.refused_packets);
  auto owners = owner_.pageOwners();
  if (owners != nullptr && owners != told_owners_) {
    wire::encode(*owners, *status.mutable_page_owners());
  }
  auto counters = owner_.nicCounters();
  if (counters != nullptr && counters != told_counters_) {
    const auto update = told_counters_ == nullptr ? std::optional(NicUpdate{true, *counters})
                                                  : updateBetween(*told_counters_, *counters);
    if (update) wire::encode(*update, *status.mutable_counters());
  }
  heartbeat_due_ = now + heartbeat_interval_;
  if (!sendMessage(message)) return;
  told_owners_ = std::move(owners);
  told_counters_ = std::move(counters);
  expectAnswer(now);
}

bool ControlClient::send(const wire::BurstReport& report) {
  if (state_ != State::kRegistered) return false;
  wire::AgentMessage message;
  *message.mutable_burst() = report;
  return sendMessage(message);
}

bool ControlClient::send(const wire::PathReport& report) {
  if (state_ != State::kRegistered) return false;
  wire::AgentMessage message;
  *message.mutable_paths() = report;
  return sendMessage(message);
}

void ControlClient::setAddresses(std::vector<IpAddress> addresses, Nanos now_mono) {
  options_.addresses = std::move(addresses);
  endpointsChanged(now_mono);
}

void ControlClient::setPages(std::string pages, Nanos now_mono) {
  options_.pages = std::move(pages);
  endpointsChanged(now_mono);
}

void ControlClient::setControllers(std::vector<std::string> controllers,
                                   std::vector<net::CurveKey> keys, Nanos now_mono) {
  if (state_ == State::kClosed) return;
  const bool same_address = choice_.hasOnly(controllers);
  bool stays = same_address;
  if (options_.keys) {
    const auto in_use = std::find(keys.begin(), keys.end(), options_.keys->controller[key_at_]);
    stays = same_address && in_use != keys.end();
    key_at_ = stays ? static_cast<std::size_t>(in_use - keys.begin()) : 0;
    options_.keys->controller = std::move(keys);
  }
  if (stays) return;
  const std::string before = choice_.current();
  if (!same_address) choice_ = ControllerChoice(options_.host, std::move(controllers));
  if (same_address) {
    log::info("controller {}: by another key from now on", before);
  } else {
    log::info("controller {} from now on, not {} any more", choice_.current(), before);
  }
  warn_due_ = now_mono + kUnreached;
  moveTo(now_mono);
}

// Connects to the current controller. The loss of the connection to the former one is intended.
void ControlClient::moveTo(Nanos now_mono) {
  handshake_said_.clear();
  loss_logged_ = true;
  loseConnection("");
  loss_logged_ = false;
  next_due_ = now_mono + choice_.patience();
  openSocket(now_mono);
}

// A registration in flight may contain the old endpoints, so another one follows its answer.
void ControlClient::endpointsChanged(Nanos now_mono) {
  register_due_ = state_ == State::kRegistered || state_ == State::kRegistering;
  if (state_ != State::kRegistered || now_mono - register_sent_ < kRegisterPause) return;
  sendRegister(now_mono);
}

void ControlClient::goodbye() {
  if (state_ == State::kRegistered || state_ == State::kRegistering) {
    wire::AgentMessage message;
    message.mutable_goodbye()->set_incarnation(options_.incarnation);
    sendMessage(message);
  }
  socket_.close(kGoodbyeLingerMs);
  state_ = State::kClosed;
}

}  // namespace pingloom::agent
