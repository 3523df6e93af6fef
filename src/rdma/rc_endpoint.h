// An RC endpoint: a reliable, connected queue pair for one-sided operations on a peer's memory.
// The peer's processor takes no part; both sides are endpoints of this kind.
//
// Its life goes one way: new -> connecting -> connected -> failed -> closed (each step may be left
// out, none is taken back). One that has failed is replaced: the owner makes a new one and connects
// that.
#pragma once

#include <array>
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

// What the other side has to know to connect; any control channel can carry it.
struct RcAddress {
  Gid gid;
  std::uint16_t lid = 0;   // InfiniBand; 0 with RoCE
  std::uint32_t qpn = 0;   // 24 bits
  std::uint32_t psn = 0;   // 24 bits: of the first request that this side will send
  std::uint32_t mtu = 0;   // the largest path MTU this side can take; the smaller of both is used
  std::uint8_t reads = 0;  // READs and atomics this side answers at a time

  bool operator==(const RcAddress&) const = default;
};

struct RcOptions {
  Access access = Access::kNone;  // what the peer may do on this endpoint at all
  std::uint32_t mtu = 0;          // 256 .. 4096; 0: the port's active MTU
  std::uint8_t timeout = 17;      // a response is overdue after 4.096 us * 2^timeout (0.5 s)
  std::uint8_t retries = 7;       // then it is asked for again, so often
  std::uint8_t rnr_retries = 7;   // 7: without end
  std::uint8_t reads = 16;        // READs and atomics under way at a time, each way
  std::uint32_t depth = 128;      // requests posted and not done
  std::uint32_t immediates = 0;   // WRITEs with immediate that may wait to be taken by poll()
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;
  std::uint8_t service_level = 0;  // InfiniBand
  std::uint16_t p_key_index = 0;
  bool busy = false;  // no events: poll() is always due, at the price of a core
};

enum class RcState : std::uint8_t { kNew, kConnecting, kConnected, kFailed, kClosed };
constexpr std::string_view name(RcState state) {
  constexpr std::array<std::string_view, 5> kNames = {"new", "connecting", "connected", "failed",
                                                      "closed"};
  return kNames[static_cast<std::size_t>(state)];
}

enum class RcOperation : std::uint8_t { kRead, kWrite, kWriteImmediate, kFetchAdd, kCompareSwap };
constexpr std::uint32_t kAtomicBytes = 8;  // what the last two work on

// A piece of local memory within `region`. The region outlives the request.
struct LocalPiece {
  const MemoryRegion* region = nullptr;
  std::span<std::uint8_t> memory;
};

struct RcRequest {
  static constexpr std::size_t kMaxPieces = 8;

  RcOperation operation = RcOperation::kRead;
  std::uint64_t id = 0;  // comes back in RcDone
  // An unsignalled request that succeeds is silent; one that fails never is.
  bool signalled = true;
  // READ: where the data goes, one piece after the other. WRITE: where it comes from. Atomics: one
  // piece of 8 bytes for the value before, in host byte order. Together the length, at most 2^31.
  std::span<const LocalPiece> local;  // at most kMaxPieces; copied by post(), the memory is not
  std::uint64_t remote_address = 0;   // atomics: divisible by 8
  std::uint32_t rkey = 0;
  std::uint32_t immediate = 0;    // kWriteImmediate
  std::uint64_t add_or_swap = 0;  // kFetchAdd: added; kCompareSwap: the new value
  std::uint64_t compare = 0;      // kCompareSwap
};

enum class RcStatus : std::uint8_t {
  kOk,
  kRemoteAccess,     // the peer refused: rkey, bounds or permission (NAK 0x62)
  kRemoteInvalid,    // the peer took the request for malformed or not permitted (NAK 0x61)
  kRemoteOperation,  // the peer could not carry it out (NAK 0x63)
  kRetriesExceeded,  // no response
  kRnrExceeded,      // the peer had no receive for the immediate, too often
  kLocal,            // local memory or length
  kFlushed,          // the endpoint failed or was closed before it was done
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
// A WRITE with immediate has arrived whole; its data lies where the peer wrote it.
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

// One thread. Every posted request ends exactly once: signalled ones and those that fail in an
// RcDone, at the latest kFlushed when the endpoint fails. Memory is bounded by the options.
class RcEndpoint {
 public:
  virtual ~RcEndpoint() = default;  // closes it

  virtual const RcAddress& address() const = 0;
  virtual RcState state() const = 0;
  // new -> connected, with what the peer's address() says. Answers requests from then on; the peer
  // may be connected later than this side. With verbs it takes as long as the kernel looks for the
  // way to the peer: a second or more where nobody is there, and then the endpoint is failed.
  virtual Status connect(const RcAddress& peer) = 0;
  // The same without waiting: where it takes time the endpoint is connecting, and poll(), for which
  // the descriptor becomes readable, makes it connected or says why it failed.
  virtual Status startConnect(const RcAddress& peer) { return connect(peer); }

  // Nothing leaves before flush(). kFull: the options' depth. REQUIRES: connected.
  virtual PostResult post(const RcRequest& request) = 0;
  virtual void flush() = 0;

  virtual int descriptor() const = 0;  // readable when poll() has something to say
  // Never waits. An error: the endpoint is failed now, why, and all that was posted is in `events`.
  virtual Status poll(RcEvents& events) = 0;
  // When poll() must be called even if the descriptor stays silent (monotonic); kNever: not at all.
  virtual Nanos nextWake() const = 0;

  // What peers' packets were refused for, by reason.
  virtual std::vector<DropCount> drops() const = 0;
};

}  // namespace pingloom::rdma
