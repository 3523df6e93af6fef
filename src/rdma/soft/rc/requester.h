// The requesting half of an RC endpoint. It turns posted requests into packets, takes the
// responses, and completes every request exactly once. It has no sockets, the caller passes the
// time, and it does not allocate per packet. One thread.
//
// At most `window` PSNs are in flight, counted in packets of both directions. A READ is requested
// in chunks, so that its responses always fit the receive buffer. Responses to READs and atomics
// may arrive out of order. Missing packets are requested again from the first gap on
//  - when a later response has arrived and the gap has lasted for half a round trip,
//  - when the peer reports a missing READ or atomic, from that request on,
//  - when nothing has arrived for `timeout`, at most `retries` times without progress.
//
// WRITE packets: a peer may hold the packets after a gap, as pingloom's responder does, or drop
// them, as NICs and kernel rxe do. If it reports a missing packet and half a round trip later has
// not reported more, that packet alone is sent again. An acknowledge of no more than this packet
// shows that the peer holds nothing after it, and everything is sent again from there; after some
// of these the peer counts as one that drops. If nothing is heard for two round trips, the oldest
// packet is sent again, because the packet or what the peer said about it may be lost.
//
// Kernel rxe repeats a READ only from the point of the last retry, and remembers no more than
// `reads` READs and atomics. Therefore a retry within a chunk always begins at the first gap, and
// nothing new is requested while the oldest of `reads` chunks and atomics has a gap.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/time.h"
#include "rdma/rc_endpoint.h"
#include "rdma/soft/packet.h"
#include "rdma/soft/rc/rc_drops.h"
#include "rdma/soft/rc/request_queue.h"

namespace pingloom::rdma::soft {

struct RequesterOptions {
  std::uint32_t mtu = 1024;
  std::uint32_t depth = 128;
  std::uint32_t reads = 16;  // maximum chunks of READs and atomics since the oldest unfinished one
  std::uint32_t first_psn = 0;
  std::uint32_t window = 64;  // packets, from 1 to kWidestWindow
  Nanos timeout = 500 * kMillisecond;
  std::uint32_t retries = 7;
  std::uint32_t not_ready_retries = 7;  // 7 stands for no limit
};

class Requester {
 public:
  static constexpr std::uint32_t kNoEnd = 7;
  static constexpr std::uint32_t kMaxChunk = 64;       // packets
  static constexpr std::uint32_t kWidestWindow = 512;  // packets
  static constexpr std::uint32_t kMinBurst = 8;        // packets of WRITEs
  static constexpr int kSureOf = 3;                    // observations, for a judgement of the peer

  // REQUIRES: `drops` outlives this.
  Requester(const RequesterOptions& options, RcDropCounters& drops);

  // Returns false when as many requests are posted, or done and not taken, as the depth allows.
  bool post(const RcRequest& request);
  // REQUIRES: the packet is a response (isResponse).
  static bool isResponse(Opcode opcode);
  void receive(const Packet& packet, Nanos now_mono);
  // Builds the next packet to send, except for its destination QPN. Its payload is valid until the
  // next call. Returns false when there is nothing to send.
  bool next(Packet& out, Nanos now_mono);
  // Retries overdue requests; does nothing before nextWake().
  void elapse(Nanos now_mono);
  Nanos nextWake() const;

  // REQUIRES: 1 <= packets <= kWidestWindow.
  void setWindow(std::uint32_t packets);

  // Completes all posted requests: the oldest with `status`, the others with kFlushed.
  void fail(RcStatus status, std::string_view why);
  bool failed() const { return failed_; }
  std::string_view whyFailed() const { return why_; }  // static storage
  // Completions in the order of post(); the caller clears them. Bound: the depth.
  std::vector<RcDone>& done() { return done_; }
  bool hasDone() const { return !done_.empty(); }
  // Counts the packets that were sent again; for tests.
  std::uint64_t sentAgain() const { return sent_again_; }

 private:
  // kSkipped means that the response has already arrived and next_ has advanced.
  enum class Step : std::uint8_t { kMade, kSkipped, kMustWait };
  Step step(const QueuedRequest& request, Packet& out);
  Step stepRead(const QueuedRequest& request, Packet& out);
  Step stepAtomic(const QueuedRequest& request, Packet& out);
  Step stepWrite(const QueuedRequest& request, Packet& out);
  void sent(std::uint64_t from, Nanos now_mono);

  bool isAwaited(std::uint64_t psn);
  Nanos gapDelay() const;
  void readResponse(const Packet& packet, std::uint64_t psn, Nanos now_mono);
  void atomicResponse(const Packet& packet, std::uint64_t psn, Nanos now_mono);
  void acknowledged(const Packet& packet, std::uint64_t psn, Nanos now_mono);
  void missed(std::uint64_t psn, Nanos now_mono);
  void repair(std::uint64_t psn, Nanos now_mono);
  void repeat(std::uint64_t psn, bool reported, Nanos now_mono);
  void judgePeer(std::uint64_t psn, Nanos now_mono);
  bool isWrite(std::uint64_t psn) const;
  void watchWrites(Nanos now_mono);
  void refused(std::uint8_t syndrome, std::uint64_t psn);
  void notReady(std::uint8_t syndrome, std::uint64_t psn, Nanos now_mono);
  void arrived(std::uint64_t psn, Nanos now_mono);
  // Notes that the peer has executed all requests before `psn`.
  void executed(std::uint64_t psn, Nanos now_mono);
  void advance(Nanos now_mono);
  void progressed(Nanos now_mono);
  void watchGap(Nanos now_mono);
  void sampleRoundTrip(std::uint64_t psn, Nanos now_mono);
  void goBack(std::uint64_t from, std::uint64_t until, Nanos now_mono);
  void finish(RcStatus status);
  void failAt(std::size_t index, RcStatus status, std::string_view why);

  bool has(std::uint64_t psn) const { return received_[psn % kWidestWindow]; }

  RequesterOptions options_;
  RcDropCounters& drops_;
  std::uint32_t window_;
  // How many packets of WRITEs may be in flight. A loss halves it if the peer drops all later
  // packets too; each executed packet adds one.
  std::uint32_t burst_ = kWidestWindow;
  std::uint32_t chunk_;  // a power of two that only shrinks, so chunks stay within earlier ones
  RequestQueue requests_;
  std::vector<RcDone> done_;
  std::bitset<kWidestWindow> received_;  // responses to READs and atomics from oldest_ on; a ring
  std::vector<std::uint64_t> asked_;     // ends of unfinished chunks and atomics, ascending
  std::vector<std::uint8_t> scratch_;

  std::uint64_t oldest_;           // the first PSN that is not done
  std::uint64_t next_;             // the next PSN to send
  std::uint64_t furthest_;         // the first PSN that was never sent
  std::uint64_t again_until_ = 0;  // end of a retransmission; next_ then continues at furthest_
  std::uint64_t posted_;           // the first PSN that belongs to no request
  std::uint64_t executed_;         // the first PSN that the peer may not have executed

  Nanos overdue_mono_ = kNever;  // when the response timeout expires
  Nanos gap_mono_ = kNever;      // when the gap at oldest_ has lasted too long
  Nanos gap_delay_ = 0;
  std::uint64_t gap_ = 0;           // the PSN of that gap
  Nanos hold_until_mono_ = kNever;  // until when the peer is not ready; kNever if it is ready
  Nanos went_back_mono_ = 0;
  Nanos missed_mono_ = kNever;  // when to retransmit from missed_, which the peer reported missing
  std::uint64_t missed_ = 0;
  // The WRITE packet that was sent again alone, until the peer says something about it, and whether
  // the peer had reported it missing.
  std::optional<std::uint64_t> repeated_;
  bool reported_ = false;
  int holds_ = 0;              // from -kSureOf to kSureOf; the lowest: the peer drops
  Nanos probe_mono_ = kNever;  // when the oldest WRITE packet is sent again
  Nanos probe_delay_ = 0;      // grows while nothing is heard
  Nanos last_new_mono_ = 0;    // when the newest packet was sent first
  std::uint32_t retries_left_;
  std::uint32_t not_ready_left_;

  Nanos round_trip_ = 0;  // smoothed; 0 if unknown
  std::uint64_t sample_psn_ = 0;
  Nanos sample_mono_ = kNever;  // start of the current measurement, or kNever
  std::uint64_t sent_again_ = 0;
  bool failed_ = false;
  std::string_view why_;
};

}  // namespace pingloom::rdma::soft
