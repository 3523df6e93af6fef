// Answers the PINGs that arrive at one UD endpoint with a PONG at once. T3 - T2, which is known as
// soon as the endpoint reports when the PONG left, goes into the next PONG to that source, or into
// an ACK (deferred_acks.h). Both go to the queue pair that sent the PING, with the Q_Key and the
// flow label that the PING names and its traffic class.
// The label makes the answers take the same path as the other side's PINGs of that label. A PING
// that is smaller than both as packets gets no ACK. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/time.h"
#include "probe/deferred_acks.h"
#include "probe/stall_watch.h"
#include "rdma/ud_endpoint.h"
#include "wire/probe_packet.h"

namespace pingloom::probe::rdma_ud {

// Endpoint and stall watch outlive it. Bound: kMaxWaiting answers are in progress. An answer that
// cannot be posted for kMaxWait, because the path to the prober is being looked up, is given up. If
// the departure of a PONG is unknown kMaxDeparture after the PING, T3 - T2 is not known.
class Responder {
 public:
  static constexpr std::size_t kMaxWaiting = 1024;
  static constexpr Nanos kMaxWait = 2 * kSecond;
  static constexpr Nanos kMaxDeparture = 100 * kMillisecond;
  static constexpr Nanos kRetry = kMillisecond;

  Responder(rdma::UdEndpoint& endpoint, const StallWatch& stalls, std::uint32_t incarnation);

  // Posts the PONG; the caller flushes. The endpoint was last seen empty at `after_mono`, so the
  // PING arrived after that. Returns false if the oldest answer had to be given up to make room.
  bool ping(const wire::ProbeMessage& message, const rdma::UdReceived& from, Nanos after_mono,
            const Instant& now);
  // The PONG with this number has left: its T3 - T2 is kept for the next PONG, or its ACK is
  // posted; the caller flushes.
  void sent(std::uint32_t number, const rdma::UdSent& sent, const Instant& now);
  // Retries answers that could not be posted and gives up old ones, and posts the ACKs of exchanges
  // that no further PONG can tell of; the caller flushes. All PINGs that came before `handled` were
  // passed to ping().
  void elapse(const Instant& now, Nanos handled);
  // Posts the ACKs of all exchanges that no PONG has told of, because this host may be about to
  // stop; the caller flushes.
  void acknowledgeAll(const Instant& now);

  Nanos nextWake(Nanos now) const;
  std::uint64_t answered() const { return answered_; }

 private:
  enum class State : std::uint8_t {
    kDone,
    kPongWaits,  // the PONG has to be posted
    kPongSent,   // the departure of the PONG is awaited
    kAckWaits,   // the ACK has to be posted
  };
  // Where answers go.
  struct Peer {
    rdma::UdPath path;
    std::uint32_t qpn = 0;
    std::uint32_t q_key = 0;
  };
  using Deferred = DeferredAcks<Peer>;
  struct Waiting {
    Peer peer;
    std::uint32_t id = 0;  // the prober's
    std::uint64_t nonce = 0;
    std::optional<std::uint64_t> t2;
    std::optional<std::uint64_t> responder_ns;  // T3 - T2, for the ACK
    Nanos after_mono = 0;
    Nanos since_mono = 0;
    State state = State::kDone;
    bool stalled = false;
    bool acknowledge = true;
    const Deferred::Source* source = nullptr;  // a later PONG to it brings T3 - T2
  };
  Waiting& waiting(std::uint32_t number) { return waiting_[number % kMaxWaiting]; }
  bool stalledSince(const Waiting& answer, const Instant& now) const;
  const Deferred::Source* sourceOf(const wire::ProbeMessage& message, const Peer& peer,
                                   const Instant& now);
  rdma::PostResult post(const Waiting& answer, const wire::ProbeMessage& message,
                        std::uint64_t tag);
  wire::ProbeMessage answerTo(const Waiting& answer, wire::ProbeType type) const;
  void postPong(std::uint32_t number);
  bool postAck(const Waiting& answer);
  void finish(Waiting& answer);
  void pongLeft(std::uint32_t number, std::optional<std::uint64_t> t3, const Instant& now);
  void addAck(const Deferred::Source& source, const Deferred::Answered& answered);
  void forgetDone();

  rdma::UdEndpoint* endpoint_;
  const StallWatch* stalls_;
  std::uint32_t incarnation_;
  std::vector<Waiting> waiting_;  // a ring, by number
  Deferred deferred_;
  std::uint32_t oldest_ = 0;  // the number of an answer; if oldest_ == next_, there is none
  std::uint32_t next_ = 0;
  std::size_t unposted_ = 0;
  std::uint64_t answered_ = 0;
};

}  // namespace pingloom::probe::rdma_ud
