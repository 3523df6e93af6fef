// The responding half of an RC endpoint. It takes a peer's requests, reads and writes registered
// memory, and produces responses. It has no sockets, uses no time, and does not allocate per
// packet. One thread.
//
// Requests are executed in the order of their PSNs: those that come after a gap are held until it
// is filled, and the gap is reported once. READs are executed when their responses are sent; a
// response acknowledges all earlier requests. No packet of a peer can read or write a
// byte outside the regions of `memory`. A fatal refusal (NAK 0x61 to 0x63) ends the responder: from
// then on it only repeats that refusal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "rdma/rc_endpoint.h"
#include "rdma/soft/packet.h"
#include "rdma/soft/rc/memory_table.h"
#include "rdma/soft/rc/rc_drops.h"

namespace pingloom::rdma::soft {

struct ResponderOptions {
  Access access = Access::kNone;  // limits what each region allows
  std::uint32_t mtu = 1024;
  std::uint32_t reads = 16;      // maximum READs and atomics with a response due
  std::uint32_t first_psn = 0;   // PSN of the peer's first request
  std::uint32_t immediates = 0;  // maximum immediates that wait to be taken
};

// Bounds: `reads` responses are due, or twice that while a peer retries, and the last 2 * `reads`
// READs and atomics are remembered for retries. Requests after a gap are held within kHeld PSNs,
// each with at most one MTU of payload, and only with a payload if WRITEs are permitted; the memory
// is allocated with the first gap.
class Responder {
 public:
  static constexpr std::size_t kHeld = 512;

  // REQUIRES: `memory` and `drops` outlive this.
  Responder(const ResponderOptions& options, const MemoryTable& memory, RcDropCounters& drops);

  // REQUIRES: the packet is a request (isRequest).
  static bool isRequest(Opcode opcode);
  void receive(const Packet& packet);

  // Tells whether a response is due.
  bool pending() const { return !responses_.empty() || nak_due_ || ack_due_; }
  // Builds the next response, except for its destination QPN. Its payload points into the region
  // and has to be copied before any other call. Returns false when no response is due.
  bool next(Packet& out);

  // WRITEs with immediate that have arrived; the caller clears them.
  std::vector<RcArrived>& arrived() { return arrived_; }
  bool hasArrived() const { return !arrived_.empty(); }
  bool failed() const { return failed_; }
  std::string_view whyFailed() const { return why_; }  // static storage

 private:
  // A WRITE between its first and its last packet.
  struct Write {
    RemoteRange left;
    std::uint32_t whole = 0;
    std::uint64_t generation = 0;
  };
  // The response to a READ or an atomic: packets `next` to `end`.
  struct Response {
    bool atomic = false;
    bool again = false;       // the peer has retried it
    std::uint64_t first = 0;  // the PSN at which `range` begins
    std::uint64_t next = 0;
    std::uint64_t end = 0;
    std::uint64_t message = 0;  // the first PSN of the original READ
    RemoteRange range;
    std::uint64_t generation = 0;
    std::uint64_t original = 0;  // the value before an atomic
  };
  // A READ or an atomic that was executed.
  struct Executed {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    bool atomic = false;
    std::uint64_t original = 0;
  };

  // A request that arrived after a gap.
  struct Held {
    std::uint64_t psn = 0;  // 0: nothing is held here
    Packet packet;
    std::vector<std::uint8_t> payload;
  };

  void execute(const Packet& packet);
  void executeHeld();
  bool hold(const Packet& packet, std::uint64_t psn);
  void forgetHeld();
  void send(const Packet& packet);
  void notReady();
  void reportGap(std::uint64_t last);
  void beginWrite(const Packet& packet);
  void continueWrite(const Packet& packet);
  void store(const Packet& packet, const Write& write);
  bool mayBegin(Access wanted);
  bool hasRoomForRead();
  void read(const Packet& packet);
  void atomic(const Packet& packet);
  void duplicate(const Packet& packet, std::uint64_t psn);
  void readAgain(const Packet& packet, std::uint64_t psn);
  void atomicAgain(std::uint64_t psn);
  void gap(const Packet& packet, std::uint64_t psn);
  void insert(const Response& response);
  void remember(const Executed& executed);
  const Executed* executedAt(std::uint64_t psn, bool atomic) const;
  void refuse(AccessFault fault);
  void refuseInvalid(std::string_view why);
  void fail(std::uint8_t syndrome, std::uint64_t psn, std::string_view why);
  bool nextRead(Response& response, Packet& out);
  void answer(std::uint8_t syndrome, std::uint64_t psn, Packet& out) const;

  ResponderOptions options_;
  const MemoryTable& memory_;
  RcDropCounters& drops_;
  std::uint64_t expected_;  // the PSN of the next request
  std::uint32_t messages_ = 0;
  std::optional<Write> write_;
  std::vector<Response> responses_;  // ordered by PSN
  std::vector<Executed> executed_;   // a ring
  std::size_t executed_count_ = 0;
  std::vector<RcArrived> arrived_;
  bool ack_due_ = false;
  bool nak_due_ = false;
  std::uint8_t nak_ = 0;
  std::uint64_t nak_psn_ = 0;
  // The PSN that was reported missing, while it is. It is reported again only when the peer starts
  // over: when a request comes again that is not after `repeated_`, the last one to come again.
  std::optional<std::uint64_t> reported_;
  std::uint64_t repeated_ = 0;
  std::vector<Held> held_;       // by PSN modulo kHeld; empty before the first gap
  std::uint64_t last_held_ = 0;  // the last PSN that is held; below expected_ if there is none
  bool failed_ = false;
  std::string_view why_;
};

}  // namespace pingloom::rdma::soft
