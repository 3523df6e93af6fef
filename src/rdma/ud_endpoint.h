// A UD endpoint: an unreliable datagram queue pair on any kind of device. Sends and receives are
// posted in batches; poll() returns their completions with timestamps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/tick_clock.h"
#include "rdma/gid.h"

namespace pingloom::rdma {

// Q_Keys with this bit are privileged; pingloom's endpoints never use them.
constexpr std::uint32_t kPrivilegedQKey = 0x80000000;

// The address of an endpoint: all that a peer needs to send to it. The agent's registration carries
// it.
struct UdAddress {
  Gid gid;
  std::uint16_t lid = 0;  // used by InfiniBand; 0 with RoCE
  std::uint32_t qpn = 0;  // 24 bits
  std::uint32_t q_key = 0;

  bool operator==(const UdAddress&) const = default;
};

// The path to a port. `flow_label` (20 bits) chooses among equal-cost paths if the device maps it
// to the UDP source port; 0 leaves the choice to the device.
struct UdPath {
  Gid gid;
  std::uint16_t lid = 0;
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;
  std::optional<std::uint8_t> service_level = std::nullopt;  // nullopt: the endpoint's
  // The entry of this port's GID table with the message's source GID; nullopt: the endpoint's.
  std::optional<std::uint8_t> gid_index = std::nullopt;
  // The hop limit (IPv4: TTL) of RoCE packets; 0: the maximum, or the system's default. REQUIRES if
  // it is another: UdEndpoint::sourcePort() knows the path's port.
  std::uint8_t hop_limit = 0;

  bool operator==(const UdPath&) const = default;
};
struct UdPathHash {
  std::size_t operator()(const UdPath& path) const {
    const std::uint64_t rest = static_cast<std::uint64_t>(path.flow_label) << 32 |
                               static_cast<std::uint64_t>(path.traffic_class) << 16 | path.lid;
    const std::uint64_t own = static_cast<std::uint64_t>(path.service_level.value_or(0xFF)) << 8 |
                              path.gid_index.value_or(0);
    const std::uint64_t limit = std::uint64_t{path.hop_limit} << 24;
    return GidHash()(path.gid) ^
           std::hash<std::uint64_t>()((rest ^ own << 52 ^ limit) * 0x9E3779B97F4A7C15);
  }
};

struct UdMessage {
  UdPath path;
  std::uint32_t qpn = 0;
  std::uint32_t q_key = 0;
  std::span<const std::uint8_t> payload;  // copied by post(); at most maxPayload()
  std::uint64_t id = 0;                   // returned in UdSent
};

enum class PostResult : std::uint8_t {
  kPosted,
  kFull,         // the send queue has no room; retry after a poll() that returned completions
  kResolving,    // another thread resolves the path; retry in some milliseconds
  kUnreachable,  // the path could not be resolved; the result is remembered for a while
};

// Reports that a posted message has left, or failed to.
struct UdSent {
  std::uint64_t id = 0;
  bool ok = false;
  std::optional<std::uint64_t> ticks;  // when, on the endpoint's clock
};

struct UdReceived {
  std::span<const std::uint8_t> payload;  // valid until the next poll()
  UdPath from;                            // the path back, with the traffic class of the message
  std::uint32_t qpn = 0;                  // the sender's QPN
  std::optional<std::uint64_t> ticks;     // when, on the endpoint's clock
};

// Reports that the hop limit of one of this endpoint's messages ran out, as an ICMP message says.
// Anyone can forge it, so the owner compares `quoted` with what it has sent.
struct UdExpired {
  static constexpr std::size_t kQuoted = 24;

  IpAddress router;  // the sender of the ICMP message
  IpAddress destination;
  std::array<std::uint8_t, kQuoted> quoted{};  // the beginning of the message's payload
  std::size_t quoted_bytes = 0;
};

// Filled by poll(), which clears it first.
struct UdEvents {
  std::vector<UdSent> sent;
  std::vector<UdReceived> received;
  std::vector<UdExpired> expired;
  void clear() {
    sent.clear();
    received.clear();
    expired.clear();
  }
  bool empty() const { return sent.empty() && received.empty() && expired.empty(); }
};

// The number of packets or completions that were dropped for one reason.
struct DropCount {
  std::string_view reason;  // static storage: "icrc", "q_key", ...
  std::uint64_t count = 0;
};

// One thread. Every posted message produces exactly one UdSent, unless the endpoint fails. The
// queues, whose sizes are fixed at creation, bound the memory.
class UdEndpoint {
 public:
  virtual ~UdEndpoint() = default;

  virtual const UdAddress& address() const = 0;
  virtual const TickClock& clock() const = 0;
  virtual std::size_t maxPayload() const = 0;  // one message; depends on the path MTU

  // Starts to resolve the path before its first message; does nothing if resolution takes no time.
  virtual void prepare(const UdPath& path) = 0;
  // Resolves the path again, because messages were lost on it. The earlier result stays in use
  // meanwhile.
  virtual void recheck(const UdPath& path) = 0;

  // Returns the UDP source port of messages on this path, or nullopt where it is not known, as with
  // InfiniBand and with many drivers. Where it is, messages may have a hop limit, and poll() says
  // where it ran out.
  virtual std::optional<std::uint16_t> sourcePort(const UdPath& path) const = 0;

  // Copies the message into the send queue; flush() sends it, and takes its software timestamp if
  // there is no better one.
  virtual PostResult post(const UdMessage& message) = 0;
  virtual void flush() = 0;

  // Becomes readable when poll() has something to report. The descriptor may be edge-triggered, so
  // call poll() until it returns nothing before you wait for the descriptor again.
  virtual int descriptor() const = 0;
  // Never blocks. An error means that the endpoint has failed (queue pair in error, port or device
  // gone) and can only be destroyed; messages without a UdSent never get one.
  virtual Status poll(UdEvents& events) = 0;
  // Returns the monotonic time at which poll() must be called even if the descriptor is not
  // readable, because a packet that was delayed for tests is due; otherwise kNever.
  virtual Nanos nextWake() const = 0;

  virtual std::vector<DropCount> drops() const = 0;
};

}  // namespace pingloom::rdma
