// Answers the PINGs that arrive at one UD endpoint: with a PONG at once, and with an ACK that
// carries T3 - T2 as soon as the endpoint reports when the PONG left. Both go to the queue pair
// that sent the PING, with the Q_Key and the flow label that the PING names and its traffic class.
// The label makes the answers take the same path as the other side's PINGs of that label. A PING
// that is smaller than both as packets gets no ACK. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/time.h"
#include "probe/stall_watch.h"
#include "rdma/ud_endpoint.h"
#include "wire/probe_packet.h"

namespace pingloom::probe::rdma_ud {

// Endpoint and stall watch outlive it. Bound: kMaxWaiting answers are in progress. An answer that
// cannot be posted for kMaxWait, because the path to the prober is being looked up, is given up. If
// the departure of a PONG is unknown kMaxDeparture after the PING, the ACK carries no T3 - T2.
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
  // Posts the ACK of the PONG with this number, which has left; the caller flushes.
  void sent(std::uint32_t number, const rdma::UdSent& sent, const Instant& now);
  // Retries answers that could not be posted and gives up old ones; the caller flushes.
  void elapse(const Instant& now);

  Nanos nextWake(Nanos now) const;
  std::uint64_t answered() const { return answered_; }

 private:
  enum class State : std::uint8_t {
    kDone,
    kPongWaits,  // the PONG has to be posted
    kPongSent,   // the departure of the PONG is awaited
    kAckWaits,   // the ACK has to be posted
  };
  struct Waiting {
    rdma::UdPath path;
    std::uint32_t qpn = 0;
    std::uint32_t q_key = 0;
    std::uint32_t id = 0;  // the prober's
    std::uint64_t nonce = 0;
    std::optional<std::uint64_t> t2;
    std::optional<std::uint64_t> t3;
    Nanos after_mono = 0;
    Nanos since_mono = 0;
    State state = State::kDone;
    bool stalled = false;
    bool acknowledge = true;
  };
  Waiting& waiting(std::uint32_t number) { return waiting_[number % kMaxWaiting]; }
  bool stalledSince(const Waiting& answer, const Instant& now) const;
  rdma::PostResult post(const Waiting& answer, const wire::ProbeMessage& message,
                        std::uint64_t tag);
  wire::ProbeMessage answerTo(const Waiting& answer, wire::ProbeType type) const;
  void postPong(std::uint32_t number);
  void postAck(std::uint32_t number, const Instant& now);
  void pongLeft(Waiting& answer);
  void forgetDone();

  rdma::UdEndpoint* endpoint_;
  const StallWatch* stalls_;
  std::uint32_t incarnation_;
  std::vector<Waiting> waiting_;  // a ring, by number
  std::uint32_t oldest_ = 0;      // the number of an answer; if oldest_ == next_, there is none
  std::uint32_t next_ = 0;
  std::size_t unposted_ = 0;
  std::uint64_t answered_ = 0;
};

}  // namespace pingloom::probe::rdma_ud
