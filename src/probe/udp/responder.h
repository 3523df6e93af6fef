// Answers the PINGs that arrive at one socket: with a PONG at once, and with an ACK that carries
// T3 - T2 as soon as the kernel reports when the PONG left. Both go to the PING's source, from the
// address that the PING was sent to and with its traffic class. A PING that is smaller than both as
// packets gets no ACK. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/time.h"
#include "net/outbox.h"
#include "net/rx_batch.h"
#include "net/udp_socket.h"
#include "probe/stall_watch.h"
#include "wire/endpoint_query.h"
#include "wire/probe_packet.h"

namespace pingloom::probe::udp {

constexpr std::uint8_t kPongTag = 2;  // net::TxTag's kind of a PONG; its id is the PONG's number

// `socket`, `stalls` and the scratch batch outlive it. Bound: kMaxWaiting PONGs wait for their
// departure times, for kMaxWait at most; then their ACKs leave without T3 - T2.
class Responder {
 public:
  static constexpr std::size_t kMaxWaiting = 1024;
  static constexpr Nanos kMaxWait = 100 * kMillisecond;

  Responder(net::UdpSocket& socket, const StallWatch& stalls, std::uint32_t incarnation,
            net::RxBatch& scratch);

  // Queues the PONG. Returns false if there is no room because the kernel accepts no datagrams.
  bool ping(const wire::ProbeMessage& message, const sockaddr_in6& peer, socklen_t peer_length,
            const net::Ancillary& about, const Instant& now);
  // Sends the queued PONGs. Their departures are then in the socket's error queue, or arrive later.
  void sendPongs();
  // Queues any other answer, which leaves with the next ACKs. Returns false if there is no room.
  bool reply(std::span<const std::uint8_t> bytes, const sockaddr_in6& peer, socklen_t peer_length,
             const net::Ancillary& about);
  // Queues the ACK of a PONG that has left.
  void departed(std::uint32_t id, Nanos t3_utc, const Instant& now);
  void sendAcks();
  // Queues ACKs without T3 - T2 for PONGs whose departure was never reported.
  void giveUp(const Instant& now);

  Nanos nextGiveUp() const;
  // Whether sending has to be tried again.
  bool blocked() const { return !pongs_.empty() || !acks_.empty(); }
  std::uint64_t answered() const { return answered_; }

 private:
  struct Waiting {
    sockaddr_in6 peer{};
    socklen_t peer_length = 0;
    std::uint8_t traffic_class = 0;
    bool stalled = false;
    bool done = true;
    IpAddress from;
    std::uint32_t id = 0;  // the prober's
    std::uint64_t nonce = 0;
    Nanos t2_utc = 0;
    Nanos since_mono = 0;
  };
  Waiting& waiting(std::uint32_t number) { return waiting_[number % kMaxWaiting]; }
  bool stalledSince(Nanos utc, const Instant& now) const;
  net::ControlData controlFor(const Waiting& pong, bool timestamp) const;
  void acknowledge(Waiting& pong, Nanos t3_utc, const Instant& now);

  net::UdpSocket* socket_;
  const StallWatch* stalls_;
  std::uint32_t incarnation_;
  net::RxBatch* scratch_;
  net::Outbox pongs_{wire::kAckBytes};
  net::Outbox acks_{wire::kEndpointQueryBytes};
  std::vector<Waiting> waiting_;  // a ring, by number
  std::uint32_t oldest_ = 0;      // the number of a PONG; if oldest_ == next_, none waits
  std::uint32_t next_ = 0;
  std::uint64_t answered_ = 0;
};

}  // namespace pingloom::probe::udp
