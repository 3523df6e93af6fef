// The messages that a ROUTER's thread has taken from ZeroMQ and the ROUTER's owner has not received
// yet. Any thread. Bounds for each connection: kMaxMessages, and kMaxBytes beyond its first
// message; what exceeds them is dropped and counted. Senders on the control channels repeat what
// is not answered, and have far less in flight.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <zmq.hpp>

#include "common/error.h"
#include "common/fd.h"
#include "net/curve_key.h"

namespace pingloom::net {

// A frame in the memory that ZeroMQ received it into.
class ZmqFrame {
 public:
  // `guarded`: the ROUTER has a gate.
  ZmqFrame(zmq::message_t message, bool guarded)
      : message_(std::move(message)), guarded_(guarded) {}
  std::string_view bytes() const { return message_.to_string_view(); }
  // The public key that the sender has proved to own; nullopt: it came without one.
  std::optional<CurveKey> key();
  std::string_view peer();  // the address it was sent from; "": unknown

 private:
  zmq::message_t message_;
  bool guarded_;
};

struct RouterMessage {
  std::string route;
  std::unique_ptr<ZmqFrame> frame;  // nullptr: the message had several frames
};

class RouterInbox {
 public:
  static constexpr std::size_t kMaxMessages = 256;
  static constexpr std::size_t kMaxBytes = std::size_t{32} << 20;

  static Result<std::unique_ptr<RouterInbox>> make();

  void put(RouterMessage message);
  // nullopt: nothing waits.
  std::optional<RouterMessage> take();
  bool empty() const;
  // Readable while a message waits.
  int descriptor() const { return waiting_.get(); }
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Held {
    std::size_t messages = 0;
    std::size_t bytes = 0;
  };

  explicit RouterInbox(UniqueFd waiting) : waiting_(std::move(waiting)) {}

  const UniqueFd waiting_;  // an eventfd, set while messages_ is not empty
  std::atomic<std::uint64_t> dropped_ = 0;
  mutable std::mutex mutex_;  // guards everything below
  std::deque<RouterMessage> messages_;
  std::unordered_map<std::string, Held> held_;  // by route
};

}  // namespace pingloom::net
