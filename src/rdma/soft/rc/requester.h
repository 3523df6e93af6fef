// The asking half of an RC endpoint: requests are posted, packets come out, responses go in, and
// every request ends exactly once. No sockets; time is passed in; no allocation per packet. One
// thread.
//
// At most `window` PSNs are under way, counted in packets of either direction, and a READ is asked
// for in chunks: what is asked for always has room where it arrives. Responses to READs and atomics
// may come in any order. What is missing is asked for again from the first gap on: of what must
// have been answered already, when a later response has come and the gap has stayed for half a
// round trip; from a request on that the peer says it misses; and all of it, `retries` times
// without any progress, when nothing comes for `timeout`.
//
// Kernel rxe answers a READ again only from where it was last asked for again, and remembers no
// more READs and atomics than `reads`. So within a chunk it is always the first gap that is asked
// for, and nothing new is asked for while the oldest of `reads` chunks and atomics has a gap.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
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
  std::uint32_t reads = 16;  // chunks of READs and atomics from the oldest that is not done on
  std::uint32_t first_psn = 0;
  std::uint32_t window = 64;  // packets, from 1 to kWidestWindow
  Nanos timeout = 500 * kMillisecond;
  std::uint32_t retries = 7;
  std::uint32_t not_ready_retries = 7;  // 7: without end
};

class Requester {
 public:
  static constexpr std::uint32_t kNoEnd = 7;
  static constexpr std::uint32_t kMaxChunk = 64;       // packets
  static constexpr std::uint32_t kWidestWindow = 512;  // packets
  static constexpr std::uint32_t kMinBurst = 8;        // packets of WRITEs

  // `drops` outlives it.
  Requester(const RequesterOptions& options, RcDropCounters& drops);

  // False: as many are posted, or done and not taken, as the depth allows.
  bool post(const RcRequest& request);
  // REQUIRES: a response (isResponse).
  static bool isResponse(Opcode opcode);
  void receive(const Packet& packet, Nanos now_mono);
  // The next packet to send, all but the destination QPN; its payload is valid until the next call.
  // False: none for now.
  bool next(Packet& out, Nanos now_mono);
  // Asks again for what is overdue. REQUIRES: now_mono >= nextWake(), or it does nothing.
  void elapse(Nanos now_mono);
  Nanos nextWake() const;

  // From 1 to kWidestWindow.
  void setWindow(std::uint32_t packets);

  // All that is posted ends: `status` for the oldest, kFlushed for the rest.
  void fail(RcStatus status, std::string_view why);
  bool failed() const { return failed_; }
  std::string_view whyFailed() const { return why_; }  // static storage
  // In the order in which they were posted; taken by clearing it. Bound: the depth.
  std::vector<RcDone>& done() { return done_; }
  bool hasDone() const { return !done_.empty(); }
  // Packets that were sent a second time; for tests.
  std::uint64_t sentAgain() const { return sent_again_; }

 private:
  // kSkipped: what is next has come already; next_ has moved over it.
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
  void refused(std::uint8_t syndrome, std::uint64_t psn);
  void notReady(std::uint8_t syndrome, std::uint64_t psn, Nanos now_mono);
  void arrived(std::uint64_t psn, Nanos now_mono);
  // The peer has carried out all before `psn`.
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
  // Of WRITEs this many packets may be under way: halved where one is lost, since all behind it is
  // lost too, and one more for each that is carried out.
  std::uint32_t burst_ = kWidestWindow;
  std::uint32_t chunk_;  // a power of two that only shrinks: chunks lie within former ones
  RequestQueue requests_;
  std::vector<RcDone> done_;
  std::bitset<kWidestWindow> received_;  // of READs and atomics, from oldest_ on; a ring
  std::vector<std::uint64_t> asked_;     // ends of the chunks and atomics not done, ascending
  std::vector<std::uint8_t> scratch_;

  std::uint64_t oldest_;           // the first PSN that is not done
  std::uint64_t next_;             // the next to send
  std::uint64_t furthest_;         // the first that was never sent
  std::uint64_t again_until_ = 0;  // where going back ends: from there on, next_ is furthest_
  std::uint64_t posted_;           // the first that belongs to no request
  std::uint64_t executed_;         // the first that the peer is not known to have carried out

  Nanos overdue_mono_ = kNever;  // when nothing has come for too long
  Nanos gap_mono_ = kNever;      // when the gap at oldest_ has stayed for too long
  Nanos gap_delay_ = 0;
  std::uint64_t gap_ = 0;           // where it was
  Nanos hold_until_mono_ = kNever;  // the peer is not ready; kNever: it is
  Nanos went_back_mono_ = 0;
  Nanos missed_mono_ = kNever;  // when to go back to missed_, which the peer says it misses
  std::uint64_t missed_ = 0;
  std::uint32_t retries_left_;
  std::uint32_t not_ready_left_;

  Nanos round_trip_ = 0;  // smoothed; 0: not known
  std::uint64_t sample_psn_ = 0;
  Nanos sample_mono_ = kNever;  // kNever: no measurement under way
  std::uint64_t sent_again_ = 0;
  bool failed_ = false;
  std::string_view why_;
};

}  // namespace pingloom::rdma::soft
