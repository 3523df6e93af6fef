// What libzmq reports about the connections of one socket: which were accepted or have ended, and
// which handshakes failed and why. Its owner's thread only; the owner either polls socket() or asks
// take() every few seconds, because libzmq queues reports without a bound until they are taken.
//
// This is one of the two files that call libzmq's C functions (the other is curve_key.cpp):
// zmq::monitor_t can only be used by blocking in it, and takes a report that a signal interrupted
// for one that it has read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <zmq.hpp>

#include "common/error.h"

namespace pingloom::net {

class ZmqMonitor {
 public:
  struct Event {
    std::uint16_t kind = 0;   // one of ZMQ_EVENT_...; 0: the report is malformed
    std::uint32_t value = 0;  // the descriptor or the cause, depending on the kind
  };

  // Reports the kinds in `events` from now on. `socket` belongs to `context`. Throws zmq::error_t.
  ZmqMonitor(zmq::context_t& context, zmq::socket_t& socket, int events);

  zmq::socket_t& socket() { return reports_; }
  // The next report; nullopt: there is none. Throws zmq::error_t when the context ends.
  std::optional<Event> take();

 private:
  zmq::socket_t reports_;
};

}  // namespace pingloom::net
