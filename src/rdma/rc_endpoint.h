// An RC endpoint: a reliable, connected queue pair for one-sided operations on a peer's memory. The
// peer's processor takes no part in them. Both sides are endpoints of this kind.
//
// The states are new -> connecting -> connected -> failed -> closed. A state may be skipped, but
// none is ever entered again; the owner replaces a failed endpoint with a new one.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/time.h"
#include "rdma/gid.h"
#include "rdma/memory_region.h"
#include "rdma/ud_endpoint.h"

namespace pingloom::rdma {

constexpr std::uint32_t kMinPathMtu = 256;
constexpr std::uint32_t kMaxPathMtu = 4096;
// Whether this is a path MTU: 256, 512, 1024, 2048 or 4096 bytes of payload.
constexpr bool isPathMtu(std::uint32_t bytes) {
  return bytes >= kMinPathMtu && bytes <= kMaxPathMtu && std::has_single_bit(bytes);
}

// The address that a peer needs to connect; any control channel can carry it.
struct RcAddress {
  Gid gid;
  std::uint16_t lid = 0;   // used by InfiniBand; 0 with RoCE
  std::uint32_t qpn = 0;   // 24 bits
  std::uint32_t psn = 0;   // 24 bits; PSN of the first request that this side will send
  std::uint32_t mtu = 0;   // maximum path MTU of this side; the smaller one of both sides is used
  std::uint8_t reads = 0;  // maximum number of READs and atomics in flight towards this side

  bool operator==(const RcAddress&) const = default;
};

struct RcOptions {
  Access access = Access::kNone;  // what the peer may do through this endpoint
  std::uint32_t mtu = 0;          // 256 .. 4096; 0 selects the port's active MTU
  std::uint8_t timeout = 17;      // a response is overdue after 4.096 us * 2^timeout (0.5 s)
  std::uint8_t retries = 7;       // how often an overdue response is requested again
  std::uint8_t rnr_retries = 7;   // 7 stands for no limit
  std::uint8_t reads = 16;        // maximum READs and atomics in flight in each direction
  std::uint32_t depth = 128;      // maximum requests posted but not done
  std::uint32_t immediates = 0;   // maximum WRITEs with immediate that wait for poll()
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;
  std::uint8_t service_level = 0;  // InfiniBand
  std::uint16_t p_key_index = 0;
  bool busy = false;  // uses no events: poll() is always due, which occupies a core
  // If set, the endpoint sends at most three times the bytes that it has received, until
  // peerProved() is called. Only a soft device can do that; a NIC answers READs by itself.
  bool unproved = false;
};

enum class RcState : std::uint8_t { kNew, kConnecting, kConnected, kFailed, kClosed };
constexpr std::string_view name(RcState state) {
  constexpr std::array<std::string_view, 5> kNames = {"new", "connecting", "connected", "failed",
                                                      "closed"};
  return kNames[static_cast<std::size_t>(state)];
}

enum class RcOperation : std::uint8_t { kRead, kWrite, kWriteImmediate, kFetchAdd, kCompareSwap };
constexpr std::uint32_t kAtomicBytes = 8;  // the operand size of the last two

// A piece of local memory within `region`. The region outlives the request.
struct LocalPiece {
  const MemoryRegion* region = nullptr;
  std::span<std::uint8_t> memory;
};

struct RcRequest {
  static constexpr std::size_t kMaxPieces = 8;

  RcOperation operation = RcOperation::kRead;
  std::uint64_t id = 0;  // returned in RcDone
  // An unsignalled request is reported only if it fails.
  bool signalled = true;
  // The local pieces, in order: a READ stores into them, a WRITE loads from them, and an atomic
  // stores the previous value into one piece of 8 bytes in host byte order. Their total length is
  // the length of the request, at most 2^31.
  std::span<const LocalPiece> local;  // at most kMaxPieces; copied by post(), the memory is not
  std::uint64_t remote_address = 0;   // must be divisible by 8 for atomics
  std::uint32_t rkey = 0;
  std::uint32_t immediate = 0;    // for kWriteImmediate
  std::uint64_t add_or_swap = 0;  // the addend of kFetchAdd, the new value of kCompareSwap
  std::uint64_t compare = 0;      // the expected value of kCompareSwap
};

enum class RcStatus : std::uint8_t {
  kOk,
  kRemoteAccess,     // the peer refused the rkey, the bounds or the access (NAK 0x62)
  kRemoteInvalid,    // the peer found the request malformed or not permitted (NAK 0x61)
  kRemoteOperation,  // the peer could not carry it out (NAK 0x63)
  kRetriesExceeded,  // no response arrived
  kRnrExceeded,      // the peer had no receive for the immediate, and the retries are used up
  kLocal,            // the local memory or length was invalid
  kFlushed,          // the endpoint failed or was closed first
};
constexpr std::string_view name(RcStatus status) {
  constexpr std::array<std::string_view, 8> kNames = {"ok",
                                                      "remote access",
                                                      "remote invalid request",
                                                      "remote operation",
                                                      "no response",
                                                      "receiver not ready",
                                                      "local",
                                                      "flushed"};
  return kNames[static_cast<std::size_t>(status)];
}

struct RcDone {
  std::uint64_t id = 0;
  RcStatus status = RcStatus::kOk;
};
// A WRITE with immediate that has arrived completely; its data is where the peer wrote it.
struct RcArrived {
  std::uint32_t immediate = 0;  // host byte order
  std::uint32_t bytes = 0;
};

struct RcEvents {
  std::vector<RcDone> done;  // in the order in which they were posted
  std::vector<RcArrived> arrived;
  void clear() {
    done.clear();
    arrived.clear();
  }
};

// One thread. Every posted request completes exactly once. Signalled and failed ones produce an
// RcDone, at the latest with kFlushed when the endpoint fails. The options bound the memory.
class RcEndpoint {
 public:
  virtual ~RcEndpoint() = default;  // closes the endpoint

  virtual const RcAddress& address() const = 0;
  virtual RcState state() const = 0;
  // Connects a new endpoint to the peer with that address(). The endpoint answers requests from
  // then on, and the peer may connect later than this side. With verbs the call blocks while the
  // kernel resolves the path, which takes a second or more if nothing answers; the endpoint has
  // then failed.
  virtual Status connect(const RcAddress& peer) = 0;
  // Does the same without blocking. If that takes time, the state is kConnecting until the
  // descriptor becomes readable; then poll() makes it kConnected, or says why the endpoint has
  // failed.
  virtual Status startConnect(const RcAddress& peer) { return connect(peer); }
  // Lifts the limit of RcOptions::unproved. The caller does this once the peer has acknowledged
  // something that was sent to its address, or to another address of the same owner.
  virtual void peerProved() {}

  // Queues a request, which flush() sends. Returns kFull at the options' depth. REQUIRES:
  // connected.
  virtual PostResult post(const RcRequest& request) = 0;
  virtual void flush() = 0;

  virtual int descriptor() const = 0;  // becomes readable when poll() has something to report
  // Never blocks. An error means that the endpoint has failed, and says why; all posted requests
  // are then in `events`.
  virtual Status poll(RcEvents& events) = 0;
  // Returns the monotonic time at which poll() must be called even if the descriptor is not
  // readable, or kNever.
  virtual Nanos nextWake() const = 0;

  // Counts the refused packets of peers, by reason.
  virtual std::vector<DropCount> drops() const = 0;
};

}  // namespace pingloom::rdma
