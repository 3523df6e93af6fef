// The answering half of an RC endpoint: a peer's requests go in, reads and writes of registered
// memory happen, responses come out. No sockets, no time, no allocation per packet. One thread.
//
// Requests are carried out as they come in, READs as their responses go out, in the order of their
// PSNs; a response to one acknowledges all before it. Whatever a peer sends, no byte outside a
// region of `memory` is read or written. A request that is refused for good (NAK 0x61 to 0x63) ends
// the responder: it only repeats its refusal from then on.
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
  Access access = Access::kNone;  // beside each region's own
  std::uint32_t mtu = 1024;
  std::uint32_t reads = 16;      // READs and atomics whose responses are due
  std::uint32_t first_psn = 0;   // of the peer's first request
  std::uint32_t immediates = 0;  // that wait to be taken
};

// Bounds: `reads` responses are due, twice that while a peer asks again, and the last 2 * `reads`
// READs and atomics are remembered for a peer that asks again.
class Responder {
 public:
  // `memory` and `drops` outlive it.
  Responder(const ResponderOptions& options, const MemoryTable& memory, RcDropCounters& drops);

  // REQUIRES: a request (isRequest).
  static bool isRequest(Opcode opcode);
  void receive(const Packet& packet);

  // A response is due.
  bool pending() const { return !responses_.empty() || nak_due_ || ack_due_; }
  // The next one, all but the destination QPN; its payload lies in the region, to be copied before
  // anything else happens. False: none.
  bool next(Packet& out);

  // WRITEs with immediate that have come; taken by clearing it.
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
  // What a READ or an atomic will be answered with: packets `next` to `end`.
  struct Response {
    bool atomic = false;
    bool again = false;       // asked for a second time
    std::uint64_t first = 0;  // the PSN that `range` begins at
    std::uint64_t next = 0;
    std::uint64_t end = 0;
    std::uint64_t message = 0;  // the first PSN of the READ as it was first asked for
    RemoteRange range;
    std::uint64_t generation = 0;
    std::uint64_t original = 0;  // atomic: the value before
  };
  // One that was carried out.
  struct Executed {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    bool atomic = false;
    std::uint64_t original = 0;
  };

  void execute(const Packet& packet);
  void beginWrite(const Packet& packet);
  void continueWrite(const Packet& packet);
  void store(const Packet& packet, Write write);
  bool mayBegin(Access wanted);
  bool hasRoomForRead();
  void read(const Packet& packet);
  void atomic(const Packet& packet);
  void duplicate(const Packet& packet, std::uint64_t psn);
  void readAgain(const Packet& packet, std::uint64_t psn);
  void atomicAgain(std::uint64_t psn);
  void gap(std::uint64_t psn);
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
  std::uint64_t expected_;  // the next request's PSN
  std::uint32_t messages_ = 0;
  std::optional<Write> write_;
  std::vector<Response> responses_;  // by PSN
  std::vector<Executed> executed_;   // a ring
  std::size_t executed_count_ = 0;
  std::vector<RcArrived> arrived_;
  bool ack_due_ = false;
  bool nak_due_ = false;
  std::uint8_t nak_ = 0;
  std::uint64_t nak_psn_ = 0;
  // The last request after a gap, while there is one: a NAK was sent for it, and a second one is
  // due only when requests begin to come anew.
  std::optional<std::uint64_t> beyond_gap_;
  bool failed_ = false;
  std::string_view why_;
};

}  // namespace pingloom::rdma::soft
