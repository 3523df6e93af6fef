#include "collector/control_link.h"

#include <limits>

#include "pages.pb.h"
#include "pages/page_messages.h"

namespace pingloom::collector {

Status ControlLink::open(const std::string& agent, const std::optional<net::CurveKey>& key) {
  asked_ = 0;
  net::DealerOptions options;
  options.source = source_;
  options.largest = kMaxAnswer;
  if (own_) {
    if (!key) return makeError(agent, "its public key is not known");
    options.curve = net::DealerOptions::Curve{*own_, *key};
  }
  return socket_.open(context_, agent, options);
}

bool ControlLink::ask(wire::PageRequest& request, Nanos now) {
  request.set_version(pages::kPageControlVersion);
  if (!socket_.send(request.SerializeAsString(), {})) return false;
  asked_ = now;
  return true;
}

Nanos ControlLink::deadline() const {
  return asked_ == 0 ? std::numeric_limits<Nanos>::max() : asked_ + kPatience;
}

Result<std::optional<wire::PageReply>> ControlLink::answer() {
  std::string frame;
  if (!socket_.isOpen()) return std::nullopt;
  switch (socket_.receive(frame)) {
    case net::ZmqDealer::Received::kNothing:
      return std::nullopt;
    case net::ZmqDealer::Received::kMessage: {
      wire::PageReply reply;
      // An answer that arrives too late or was not requested is malformed too.
      if (asked_ == 0 || !reply.ParseFromString(frame) ||
          reply.version() != pages::kPageControlVersion) {
        break;
      }
      asked_ = 0;
      return reply;
    }
    case net::ZmqDealer::Received::kBad:
      break;
  }
  return makeError("control channel", "the agent's answer is not one");
}

}  // namespace pingloom::collector
