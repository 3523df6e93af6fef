// The control channel to one agent. One request is outstanding at a time. One thread.
#pragma once

#include <optional>
#include <string>

#include "common/error.h"
#include "common/time.h"
#include "net/zmq_dealer.h"

namespace pingloom::wire {
class PageReply;
class PageRequest;
}  // namespace pingloom::wire

namespace pingloom::collector {

class ControlLink {
 public:
  static constexpr Nanos kPatience = 2 * kSecond;  // how long to wait for an answer
  // an agent's answer has little more than half of this
  static constexpr std::size_t kMaxAnswer = 2U << 20;

  // Connections leave from `source` if the agent's address has its family. `own` are this
  // collector's keys; nullopt stands for plaintext.
  ControlLink(net::ZmqContext& context, const IpAddress& source,
              const std::optional<net::CurvePair>& own)
      : context_(context), source_(source), own_(own) {}

  // Connects again in the background; an outstanding request is dropped. With keys it connects only
  // to the owner of `key`, and returns an error if `key` is not known.
  Status open(const std::string& agent, const std::optional<net::CurveKey>& key);
  void close() {
    asked_ = 0;
    socket_.close(0);
  }
  bool connected() { return socket_.isOpen() && socket_.connected(); }
  int descriptor() const { return socket_.descriptor(); }  // edge-triggered; -1 if not open

  // Sends a request. Returns false if there is no connection. REQUIRES: !asking().
  bool ask(wire::PageRequest& request, Nanos now);
  bool asking() const { return asked_ != 0; }
  bool overdue(Nanos now) const { return asked_ != 0 && now - asked_ >= kPatience; }
  Nanos deadline() const;
  // Returns an error if the received message is malformed.
  Result<std::optional<wire::PageReply>> answer();
  // Tells whether something may be waiting that descriptor() will not signal.
  bool readable() { return socket_.isOpen() && socket_.readable(); }

 private:
  net::ZmqContext& context_;
  const IpAddress source_;
  const std::optional<net::CurvePair> own_;
  net::ZmqDealer socket_;
  Nanos asked_ = 0;
};

}  // namespace pingloom::collector
