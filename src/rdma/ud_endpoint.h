// A UD endpoint: an unreliable datagram queue pair, whichever device stands behind it. Sends and
// receives are posted in batches; what became of them comes back from poll(), with timestamps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/tick_clock.h"
#include "rdma/gid.h"

namespace pingloom::rdma {

// Q_Keys with this bit are privileged: no endpoint of ours has one.
constexpr std::uint32_t kPrivilegedQKey = 0x80000000;

// Where an endpoint is: all that a peer needs to send to it. Travels with the registration.
struct UdAddress {
  Gid gid;
  std::uint16_t lid = 0;  // InfiniBand; 0 with RoCE
  std::uint32_t qpn = 0;  // 24 bits
  std::uint32_t q_key = 0;

  bool operator==(const UdAddress&) const = default;
};

// The way to a port. `flow_label` chooses among equal-cost paths where the device maps it to the
// UDP source port (20 bits); 0: the device's own choice.
struct UdPath {
  Gid gid;
  std::uint16_t lid = 0;
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;

  bool operator==(const UdPath&) const = default;
};
struct UdPathHash {
  std::size_t operator()(const UdPath& path) const {
    const std::uint64_t rest = static_cast<std::uint64_t>(path.flow_label) << 32 |
                               static_cast<std::uint64_t>(path.traffic_class) << 16 | path.lid;
    return GidHash()(path.gid) ^ std::hash<std::uint64_t>()(rest * 0x9E3779B97F4A7C15);
  }
};

struct UdMessage {
  UdPath path;
  std::uint32_t qpn = 0;
  std::uint32_t q_key = 0;
  std::span<const std::uint8_t> payload;  // copied by post(); at most maxPayload()
  std::uint64_t id = 0;                   // comes back in UdSent
};

enum class PostResult : std::uint8_t {
  kPosted,
  kFull,         // the send queue has no room: again after a poll() that brought completions
  kResolving,    // the path is being looked up elsewhere: again in some milliseconds
  kUnreachable,  // the path could not be resolved; remembered for a while
};

// A posted message has left, or has not.
struct UdSent {
  std::uint64_t id = 0;
  bool ok = false;
  std::optional<std::uint64_t> ticks;  // when, on the endpoint's clock
};

struct UdReceived {
  std::span<const std::uint8_t> payload;  // valid until the next poll()
  UdPath from;                            // the way back, with the traffic class it came with
  std::uint32_t qpn = 0;                  // the sender's
  std::optional<std::uint64_t> ticks;     // when, on the endpoint's clock
};

// Filled by poll(), which clears it first.
struct UdEvents {
  std::vector<UdSent> sent;
  std::vector<UdReceived> received;
  void clear() {
    sent.clear();
    received.clear();
  }
};

// Packets or completions that came to nothing, by reason; a copy.
struct DropCount {
  std::string_view reason;  // static storage: "icrc", "q_key", ...
  std::uint64_t count = 0;
};

// One thread. Every posted message comes back in exactly one UdSent, unless the endpoint fails.
// Memory is bounded by its queues, whose sizes are fixed when it is made.
class UdEndpoint {
 public:
  virtual ~UdEndpoint() = default;

  virtual const UdAddress& address() const = 0;
  virtual const TickClock& clock() const = 0;
  virtual std::size_t maxPayload() const = 0;  // one message; depends on the path MTU

  // Makes the path ready ahead of its first message; does nothing where that takes no time.
  virtual void prepare(const UdPath& path) = 0;
  // Messages got lost on it: looks again whether there is one. What is known stays in use
  // meanwhile.
  virtual void recheck(const UdPath& path) = 0;

  // Copies the message into the send queue; nothing leaves before flush(). A message of one batch
  // gets its software timestamp, where there is no better one, in flush().
  virtual PostResult post(const UdMessage& message) = 0;
  virtual void flush() = 0;

  // Readable when poll() has something to say. Level or edge: after it became readable, poll()
  // until it brings nothing before waiting again.
  virtual int descriptor() const = 0;
  // Never waits. An error: the endpoint has failed (queue pair in error, port or device gone) and
  // is good for nothing but destruction; messages without a UdSent never get one.
  virtual Status poll(UdEvents& events) = 0;
  // When poll() must be called even if the descriptor stays silent (monotonic time): an impaired
  // packet is due. kNever: not at all.
  virtual Nanos nextWake() const = 0;

  virtual std::vector<DropCount> drops() const = 0;
};

}  // namespace pingloom::rdma
