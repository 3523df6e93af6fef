// The control channel to one agent: a question at a time, answered in order. One thread.
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
  static constexpr Nanos kPatience = 2 * kSecond;      // for an answer
  static constexpr std::size_t kMaxAnswer = 2U << 20;  // an agent's has little more than half of it

  // `source`: where connections leave from, where the agent is of its family. `own`: this
  // collector's keys, none: plaintext.
  ControlLink(net::ZmqContext& context, const IpAddress& source,
              const std::optional<net::CurvePair>& own)
      : context_(context), source_(source), own_(own) {}

  // Connects anew, in the background; a question that waits for its answer is forgotten. With keys
  // to the owner of `key` only: an error where it is not known.
  Status open(const std::string& agent, const std::optional<net::CurveKey>& key);
  void close() {
    asked_ = 0;
    socket_.close(0);
  }
  bool connected() { return socket_.isOpen() && socket_.connected(); }
  int descriptor() const { return socket_.descriptor(); }  // edge-triggered; -1: not open

  // REQUIRES: !asking(). False: there is no connection.
  bool ask(wire::PageRequest& request, Nanos now);
  bool asking() const { return asked_ != 0; }
  bool overdue(Nanos now) const { return asked_ != 0 && now - asked_ >= kPatience; }
  Nanos deadline() const;
  // An error: what came is no answer.
  Result<std::optional<wire::PageReply>> answer();
  // Something may wait that descriptor() will not tell of.
  bool readable() { return socket_.isOpen() && socket_.readable(); }

 private:
  net::ZmqContext& context_;
  const IpAddress source_;
  const std::optional<net::CurvePair> own_;
  net::ZmqDealer socket_;
  Nanos asked_ = 0;
};

}  // namespace pingloom::collector
