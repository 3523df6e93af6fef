#include "keys/join_client.h"

#include <poll.h>

#include <algorithm>

#include "net/zmq_dealer.h"
#include "wire/control_protocol.h"

namespace pingloom::keys {
namespace {

constexpr Nanos kLook = 100 * kMillisecond;
constexpr Nanos kBusyPause = 500 * kMillisecond;
// A controller knows a new token within a second.
constexpr Nanos kTokenSettles = 2 * kSecond;

// ZeroMQ's descriptor only hints, so it is not waited for long.
void pause(int descriptor) {
  pollfd poll{descriptor, POLLIN, 0};
  (void)::poll(&poll, descriptor < 0 ? 0 : 1, static_cast<int>(kLook / kMillisecond));
}

void sleepUntil(Nanos mono) {
  while (monotonicNow() < mono) pause(-1);
}

enum class Door { kOpen, kRefused, kOtherKey, kUnreached };

// Connects by the key `own` until the controller lets it in or refuses it.
Door knock(net::ZmqContext& context, net::ZmqDealer& dealer, const std::string& controller,
           const net::DealerOptions::Curve& curve, Nanos until_mono) {
  net::DealerOptions options;
  options.curve = curve;
  options.watch_handshakes = true;
  options.largest = std::size_t{1} << 20;
  if (!dealer.open(context, controller, options)) return Door::kUnreached;
  while (monotonicNow() < until_mono) {
    if (dealer.connected()) return Door::kOpen;
    switch (dealer.takeHandshakeFault()) {
      case net::HandshakeFault::kKeyRefused:
        return Door::kRefused;
      case net::HandshakeFault::kBroken:
        return Door::kOtherKey;
      case net::HandshakeFault::kNone:
        break;
    }
    pause(dealer.descriptor());
  }
  return Door::kUnreached;
}

Error unreached(const std::string& controller) {
  return {"controller " + controller,
          "cannot be reached; is it running, and does a firewall let TCP to this port through?"};
}

Error otherKey(const std::string& controller) {
  return {"controller " + controller,
          "has another key than the token's, or none; take a token that this controller made"};
}

std::string encode(const JoinRequest& request) {
  wire::AgentMessage message;
  wire::Join& join = *message.mutable_join();
  join.set_control_version(wire::kControlVersion);
  join.set_role(request.role == Role::kAgent ? wire::Join::AGENT : wire::Join::COLLECTOR);
  join.set_public_key(request.key.wire());
  join.set_host(request.host);
  for (const IpAddress& address : request.addresses) join.add_addresses(address.wire());
  for (const IpAddress& address : request.machine) join.add_machine(address.wire());
  return message.SerializeAsString();
}

// Sends one request and waits for its answer. UNKNOWN: there was none.
JoinDecision converse(net::ZmqDealer& dealer, const std::string& request, Nanos until_mono) {
  bool sent = false;
  std::string frame;
  while (monotonicNow() < until_mono) {
    if (!sent) sent = dealer.send(request, {});
    const auto received = dealer.receive(frame);
    wire::ControllerMessage message;
    if (received == net::ZmqDealer::Received::kMessage && message.ParseFromString(frame)) {
      if (message.has_joined()) return {message.joined().outcome(), message.joined().text()};
      if (message.has_refused()) return {wire::JoinReply::REJECTED, message.refused().text()};
    }
    if (received == net::ZmqDealer::Received::kNothing) pause(dealer.descriptor());
  }
  return {};
}

}  // namespace

Result<JoinDecision> askToJoin(const std::string& controller, const JoinToken& token,
                               const JoinRequest& request, Nanos timeout) {
  const Nanos started = monotonicNow();
  const Nanos until = started + timeout;
  net::ZmqContext context;
  net::ZmqDealer dealer;
  const std::string message = encode(request);
  for (;;) {
    switch (knock(context, dealer, controller, {token.own, token.controller}, until)) {
      case Door::kOpen:
        break;
      case Door::kRefused:
        if (monotonicNow() - started < kTokenSettles) {
          sleepUntil(monotonicNow() + kBusyPause);
          continue;
        }
        return makeError("controller " + controller,
                         "does not accept the token, which expires at " +
                             formatUtc(token.expires_utc) +
                             ": it has expired, is used up or was revoked; make another one with "
                             "`pingloom keys token create` at the controller");
      case Door::kOtherKey:
        return tl::unexpected(otherKey(controller));
      case Door::kUnreached:
        return tl::unexpected(unreached(controller));
    }
    JoinDecision decision = converse(dealer, message, until);
    if (decision.outcome == wire::JoinReply::UNKNOWN) {
      return makeError("controller " + controller,
                       "does not answer the request to join; is it older than this program?");
    }
    const bool again =
        decision.outcome == wire::JoinReply::BUSY && monotonicNow() + kBusyPause < until;
    if (!again) return decision;
    sleepUntil(monotonicNow() + kBusyPause);
  }
}

Result<bool> letsIn(const std::string& controller, const net::CurveKey& server,
                    const net::CurvePair& own, Nanos timeout) {
  net::ZmqContext context;
  net::ZmqDealer dealer;
  switch (knock(context, dealer, controller, {own, server}, monotonicNow() + timeout)) {
    case Door::kOpen:
      return true;
    case Door::kRefused:
      return false;
    case Door::kOtherKey:
      return tl::unexpected(otherKey(controller));
    case Door::kUnreached:
      break;
  }
  return tl::unexpected(unreached(controller));
}

}  // namespace pingloom::keys
