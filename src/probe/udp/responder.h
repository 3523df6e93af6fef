// Answers the PINGs that arrive at one socket with a PONG at once. T3 - T2, which is known as soon
// as the kernel reports when the PONG left, goes into the next PONG to that source, or into an ACK
// (deferred_acks.h). Both go to the PING's source, from the address that the PING was sent to and
// with its traffic class. A PING that is smaller than both as packets gets no ACK. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/time.h"
#include "net/outbox.h"
#include "net/rx_batch.h"
#include "net/udp_socket.h"
#include "probe/deferred_acks.h"
#include "probe/stall_watch.h"
#include "wire/endpoint_query.h"
#include "wire/probe_packet.h"

namespace pingloom::probe::udp {

constexpr std::uint8_t kPongTag = 2;  // net::TxTag's kind of a PONG; its id is the PONG's number

// `socket`, `stalls` and the scratch batch outlive it. Bounds: kMaxWaiting PONGs wait for their
// departure times, for kMaxWait at most; then T3 - T2 is not known. DeferredAcks has its own.
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
  // A PONG has left: its T3 - T2 is kept for the next PONG, or its ACK is queued.
  void departed(std::uint32_t id, Nanos t3_utc, const Instant& now);
  void sendAcks();
  // Gives up PONGs whose departure was never reported, and queues the ACKs of exchanges that no
  // further PONG can tell of. All PINGs that came before `handled` were passed to ping().
  void giveUp(const Instant& now, Nanos handled);
  // Sends the ACKs of all exchanges that no PONG has told of, because this host may be about to
  // stop.
  void acknowledgeAll(const Instant& now);

  Nanos nextGiveUp() const;
  // Whether sending has to be tried again.
  bool blocked() const { return !pongs_.empty() || !acks_.empty(); }
  std::uint64_t answered() const { return answered_; }

 private:
  // Where answers go, and how they leave.
  struct Peer {
    sockaddr_in6 address{};
    socklen_t length = 0;
    std::uint8_t traffic_class = 0;
    IpAddress from;
  };
  using Deferred = DeferredAcks<Peer>;
  struct Waiting {
    Peer peer;
    bool stalled = false;
    bool done = true;
    std::uint32_t id = 0;  // the prober's
    std::uint64_t nonce = 0;
    Nanos t2_utc = 0;
    Nanos since_mono = 0;
    const Deferred::Source* source = nullptr;  // a later PONG to it brings T3 - T2
  };
  Waiting& waiting(std::uint32_t number) { return waiting_[number % kMaxWaiting]; }
  bool stalledSince(Nanos utc, const Instant& now) const;
  net::ControlData controlFor(const Peer& peer, bool timestamp) const;
  const Deferred::Source* sourceOf(const wire::ProbeMessage& message, const Peer& peer,
                                   const Instant& now);
  void finish(Waiting& pong);
  void acknowledge(Waiting& pong, Nanos t3_utc, const Instant& now);
  void sendAck(const Peer& peer, std::uint64_t nonce, const wire::Residence& residence,
               std::uint64_t responder_ns);
  void sendAck(const Deferred::Source& source, const Deferred::Answered& answered);

  net::UdpSocket* socket_;
  const StallWatch* stalls_;
  std::uint32_t incarnation_;
  net::RxBatch* scratch_;
  net::Outbox pongs_{wire::kPongMaxBytes};
  net::Outbox acks_{wire::kEndpointQueryBytes};
  std::vector<Waiting> waiting_;  // a ring, by number
  Deferred deferred_;
  std::uint32_t oldest_ = 0;  // the number of a PONG; if oldest_ == next_, none waits
  std::uint32_t next_ = 0;
  std::uint64_t answered_ = 0;
};

}  // namespace pingloom::probe::udp
