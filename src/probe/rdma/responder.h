// Answers PINGs that came to one UD endpoint: PONG at once, and ACK with T3 - T2 as soon as the
// endpoint has said when the PONG left. Both go to the queue pair that the PING came from, with the
// Q_Key that it names and its traffic class, and are together not longer than it. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/time.h"
#include "probe/instant.h"
#include "probe/stall_watch.h"
#include "rdma/ud_endpoint.h"
#include "wire/probe_packet.h"

namespace pingloom::probe::rdma_ud {

// Endpoint and stall watch outlive it. Bound: kMaxWaiting answers are under way. One that cannot
// be posted for kMaxWait (the path to the prober is being looked up) is given up; one whose
// departure is not known kMaxDeparture after the PING gets its ACK without T3.
class Responder {
 public:
  static constexpr std::size_t kMaxWaiting = 1024;
  static constexpr Nanos kMaxWait = 2 * kSecond;
  static constexpr Nanos kMaxDeparture = 100 * kMillisecond;
  static constexpr Nanos kRetry = kMillisecond;

  Responder(rdma::UdEndpoint& endpoint, const StallWatch& stalls, std::uint32_t incarnation);

  // Posts the PONG; the caller flushes. `after_mono`: the PING came after this, when the endpoint
  // was last seen empty. False: the oldest answer had to be given up for it.
  bool ping(const wire::ProbeMessage& message, const rdma::UdReceived& from, Nanos after_mono,
            const Instant& now);
  // The PONG with this number left: posts its ACK; the caller flushes.
  void sent(std::uint32_t number, const rdma::UdSent& sent, const Instant& now);
  // Posts again what could not be posted, gives up what is too old; the caller flushes.
  void elapse(const Instant& now);

  Nanos nextWake(Nanos now) const;
  std::uint64_t answered() const { return answered_; }

 private:
  enum class State : std::uint8_t {
    kDone,
    kPongWaits,  // to be posted
    kPongSent,   // to leave
    kAckWaits,   // to be posted
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
  };
  Waiting& waiting(std::uint32_t number) { return waiting_[number % kMaxWaiting]; }
  bool stalledSince(const Waiting& answer, const Instant& now) const;
  rdma::PostResult post(const Waiting& answer, const wire::ProbeMessage& message,
                        std::uint64_t tag);
  wire::ProbeMessage answerTo(const Waiting& answer, wire::ProbeType type) const;
  void postPong(std::uint32_t number);
  void postAck(std::uint32_t number, const Instant& now);
  void forgetDone();

  rdma::UdEndpoint* endpoint_;
  const StallWatch* stalls_;
  std::uint32_t incarnation_;
  std::vector<Waiting> waiting_;  // a ring, by number
  std::uint32_t oldest_ = 0;      // numbers of answers; oldest_ == next_: none is under way
  std::uint32_t next_ = 0;
  std::size_t unposted_ = 0;
  std::uint64_t answered_ = 0;
};

}  // namespace pingloom::probe::rdma_ud
