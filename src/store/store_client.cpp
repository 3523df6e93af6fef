#include "store/store_client.h"

#include <poll.h>

#include <variant>

namespace pingloom::store {
namespace {

constexpr int kLookAgainMs = 5;

}  // namespace

Status StoreClient::open(const StoreClientOptions& options) {
  options_ = options;
  net::DealerOptions dealer;
  dealer.source = options.source;
  dealer.largest = kMaxReplyBytes;
  dealer.curve = options.curve;
  return link_.open(context_, options.collector, dealer);
}

Error StoreClient::noAnswer() const {
  if (options_.curve) {
    return {options_.collector, "cannot be reached, or does not take our key"};
  }
  return {options_.collector,
          "does not answer; is it the collector's stores_port, and does the collector do without "
          "keys?"};
}

Result<ConnectReply> StoreClient::receive(Nanos until) {
  std::string frame;
  for (;;) {
    switch (link_.receive(frame)) {
      case net::ZmqDealer::Received::kMessage:
        return decodeReply(frame);
      case net::ZmqDealer::Received::kBad:
        return makeError(options_.collector, "its answer is malformed");
      case net::ZmqDealer::Received::kNothing:
        break;
    }
    if (monotonicNow() >= until) return tl::unexpected(noAnswer());
    // The descriptor is edge-triggered, so the wait is short.
    pollfd ready{link_.descriptor(), POLLIN, 0};
    ::poll(&ready, 1, kLookAgainMs);
  }
}

// The collector answers in order, so answers to signs of life come first.
Result<ConnectReply> StoreClient::ask(const Request& request, Nanos within) {
  const Nanos until = monotonicNow() + within;
  for (; unread_ != 0; --unread_) {
    if (auto skipped = receive(until); !skipped) return skipped;
  }
  const std::string bytes = encodeRequest(request);
  while (!link_.send(bytes, {})) {
    if (monotonicNow() >= until) return tl::unexpected(noAnswer());
    ::poll(nullptr, 0, kLookAgainMs);
  }
  auto reply = receive(until);
  if (!reply) return reply;
  if (const auto* refused = std::get_if<Refused>(&*reply)) {
    return makeError(options_.collector, "refuses: " + refused->reason);
  }
  return reply;
}

Result<std::vector<std::string>> StoreClient::list() {
  auto reply = ask(ListRequest{}, kAnswerWithin);
  if (!reply) return tl::unexpected(reply.error());
  if (auto* names = std::get_if<StoreNames>(&*reply)) return std::move(names->translators);
  return makeError(options_.collector, "answered something else than was asked");
}

Result<Connected> StoreClient::connect(const ConnectRequest& request) {
  auto reply = ask(request, kAnswerWithin);
  if (!reply) return tl::unexpected(reply.error());
  if (auto* connected = std::get_if<Connected>(&*reply)) return std::move(*connected);
  return makeError(options_.collector, "answered something else than was asked");
}

void StoreClient::leave(const ConnectRequest& request) {
  static_cast<void>(ask(LeaveRequest{request}, kLeaveWithin));  // otherwise silence ends it
}

void StoreClient::keepAlive(const ConnectRequest& request) {
  std::string frame;
  while (unread_ != 0 && link_.receive(frame) != net::ZmqDealer::Received::kNothing) --unread_;
  if (link_.send(encodeRequest(request), {})) ++unread_;
}

}  // namespace pingloom::store
