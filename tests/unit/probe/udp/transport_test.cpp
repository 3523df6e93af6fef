// Tests the whole UDP transport over loopback, against another one and against sockets of the test
// that send what no responder would.
#include "probe/udp/transport.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <functional>
#include <map>

#include "common/fd.h"
#include "probe/guest_list.h"
#include "probe/path_queue.h"
#include "unit/eventually.h"
#include "wire/probe_packet.h"

namespace pingloom::probe::udp::transport_test {
namespace {

using test::eventually;

constexpr Nanos kPatience = 30 * kSecond;  // long enough for a busy machine

IpAddress host(std::uint32_t number) { return IpAddress::fromV4(0x7f4d0500 + number); }

std::uint16_t freePort() {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage storage{};
  socklen_t size = IpAddress().toSockaddr(0, storage);
  EXPECT_EQ(bind(socket.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&storage), &size);
  return SocketAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&storage)).port;
}

// A datagram socket that the test controls.
class RawPeer {
 public:
  RawPeer(const IpAddress& address, std::uint16_t port)
      : fd_(::socket(address.isV4() ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_storage storage{};
    const socklen_t size = address.toSockaddr(port, storage);
    EXPECT_EQ(bind(fd_.get(), reinterpret_cast<sockaddr*>(&storage), size), 0);
  }
  int descriptor() const { return fd_.get(); }

  void send(const std::vector<std::uint8_t>& bytes, const SocketAddress& to) const {
    sockaddr_storage storage{};
    const socklen_t size = to.address.toSockaddr(to.port, storage);
    EXPECT_EQ(sendto(fd_.get(), bytes.data(), bytes.size(), 0,
                     reinterpret_cast<sockaddr*>(&storage), size),
              static_cast<ssize_t>(bytes.size()));
  }
  struct Received {
    std::vector<std::uint8_t> bytes;
    SocketAddress from;
    wire::ProbeMessage message;
  };
  // Returns the next message, or an empty one after kPatience.
  Received receive() const {
    pollfd ready{fd_.get(), POLLIN, 0};
    poll(&ready, 1, kPatience / kMillisecond);
    Received got;
    got.bytes.resize(wire::kPingMaxBytes);
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    const ssize_t length = recvfrom(fd_.get(), got.bytes.data(), got.bytes.size(), MSG_DONTWAIT,
                                    reinterpret_cast<sockaddr*>(&storage), &size);
    got.bytes.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    if (length > 0) got.from = SocketAddress::fromSockaddr(reinterpret_cast<sockaddr*>(&storage));
    wire::parse(got.bytes, got.message);
    return got;
  }

 private:
  UniqueFd fd_;
};

std::vector<std::uint8_t> bytesOf(wire::ProbeType type, const wire::ProbeMessage& ping) {
  wire::ProbeMessage message = ping;
  message.type = type;
  std::vector<std::uint8_t> bytes(type == wire::ProbeType::kPing ? message.length : 32);
  wire::write(message, bytes);
  if (type == wire::ProbeType::kPong) bytes.resize(wire::kPongBytes);
  return bytes;
}

std::vector<std::uint8_t> pingBytes(std::uint32_t id, std::uint16_t length = wire::kPingPaddedBytes,
                                    std::uint8_t flags = 0, std::uint32_t incarnation = 0) {
  wire::ProbeMessage ping;
  ping.incarnation = incarnation;
  ping.flags = flags;
  ping.length = length;
  ping.id = id;
  ping.nonce = 0x1122334455667788;
  return bytesOf(wire::ProbeType::kPing, ping);
}

// Sources that a plan lets send whatever a test sends.
std::shared_ptr<const Guests> guestsOf(const plan::AddressList& addresses) {
  Guests guests;
  for (const IpAddress& address : addresses) guests.push_back({address, 10'000});
  return std::make_shared<const Guests>(std::move(guests));
}

struct Agent {
  explicit Agent(std::vector<IpAddress> listen, std::uint16_t port) {
    context.listen = std::move(listen);
    context.port = port;
    context.incarnation = 77;
    context.clock = &clock;
    context.windows = &queue;
    auto made = makeTransport(context);
    EXPECT_TRUE(made) << made.error().text();
    transport = std::move(*made);
  }
  std::uint64_t dropped(DropReason reason) {
    return transport->counters().dropped[static_cast<std::size_t>(reason)];
  }
  // Stops probing and returns everything measured so far, by probe. Closed windows add up.
  std::map<std::string, std::vector<PairWindow>> flush() {
    transport->flush();
    std::map<std::string, std::vector<PairWindow>> sums;
    for (ClosedWindow& window : queue.takeAll()) {
      auto& sum = sums[window.assignment->probe.name];
      if (sum.empty()) {
        sum = std::move(window.pairs);
        continue;
      }
      for (std::size_t i = 0; i < sum.size(); ++i) {
        sum[i].addCounts(window.pairs[i]);
        sum[i].addTimes(window.pairs[i]);
      }
    }
    return sums;
  }

  WindowClock clock{utcNow() - monotonicNow()};
  WindowQueue queue;
  AgentContext context;
  std::unique_ptr<Transport> transport;
};

std::shared_ptr<plan::Assignment> assignmentOf(const char* name, const IpAddress& source,
                                               plan::AddressList destinations) {
  auto made = std::make_shared<plan::Assignment>();
  made->probe.name = name;
  made->probe.interval = 10 * kMillisecond;
  made->probe.timeout = kSecond;
  made->source = source;
  made->destinations = std::move(destinations);
  return made;
}

void expectSumsUp(const PairWindow& pair) {
  EXPECT_EQ(pair.sent, pair.received + pair.lost + pair.refused + pair.unreachable);
}

TEST(UdpTransport, TwoOfThemMeasureEachOtherAndThemselves) {
  const std::uint16_t port = freePort();
  Agent one({host(1)}, port);
  Agent two({host(2)}, port);
  const auto known = guestsOf({host(1), host(2)});
  one.transport->setWork({{assignmentOf("a", host(1), {host(1), host(2)})}, known});
  two.transport->setWork({{assignmentOf("b", host(2), {host(1)})}, known});
  EXPECT_TRUE(eventually([&] {
    return one.transport->counters().pings_answered > 60 &&
           two.transport->counters().pings_answered > 30;
  }));
  EXPECT_EQ(one.transport->counters().dropped, (decltype(TransportCounters::dropped){}));
  const auto pairs = one.flush()["a"];
  ASSERT_EQ(pairs.size(), 2U);
  for (const PairWindow& pair : pairs) {
    EXPECT_GT(pair.received, 20U);
    EXPECT_EQ(pair.received, pair.sent);
    EXPECT_GT(pair.network.count(), 0U);
    EXPECT_GT(pair.network.max(), 0U);
    EXPECT_EQ(pair.duplicate, 0U);
  }
  EXPECT_GT(two.flush()["b"][0].network.count(), 0U);
}

TEST(UdpTransport, TracesItsFlows) {
  const std::uint16_t port = freePort();
  Agent one({host(1)}, port);
  Agent two({host(2)}, port);
  PathQueue paths;
  one.context.paths = &paths;
  one.transport->setWork({{assignmentOf("a", host(1), {host(1), host(2)})}, nullptr});
  std::vector<TracedPath> traced;
  ASSERT_TRUE(eventually([&] {
    for (TracedPath& path : paths.takeAll()) traced.push_back(std::move(path));
    return !traced.empty();
  }));
  ASSERT_EQ(traced.size(), 1U) << "not to itself";
  EXPECT_EQ(traced[0].probe, "a");
  EXPECT_EQ(traced[0].source, host(1));
  EXPECT_EQ(traced[0].destination, host(2));
  EXPECT_EQ(traced[0].path, 0U);
  EXPECT_EQ(traced[0].end, PathEnd::kReached);
  EXPECT_TRUE(traced[0].hops.empty()) << "there is no router";
  EXPECT_GT(traced[0].destination_rtt, 0);
}

TEST(UdpTransport, BelievesAnswersToItsTracePacketsOnly) {
  const std::uint16_t port = freePort();
  Agent agent({host(1)}, port);
  const RawPeer peer(host(3), port);
  PathQueue paths;
  agent.context.paths = &paths;
  agent.transport->setWork({{assignmentOf("a", host(1), {host(3)})}, nullptr});
  RawPeer::Received trace;
  ASSERT_TRUE(eventually([&] {
    trace = peer.receive();
    return trace.bytes.size() == wire::kPingMinBytes;
  }));
  auto forged = trace.message;
  ++forged.nonce;
  peer.send(bytesOf(wire::ProbeType::kPong, forged), trace.from);
  ASSERT_TRUE(eventually([&] { return agent.dropped(DropReason::kTrace) == 1; }));
  EXPECT_TRUE(paths.takeAll().empty());
  peer.send(bytesOf(wire::ProbeType::kPong, trace.message), trace.from);
  ASSERT_TRUE(eventually([&] { return paths.takeAll().size() == 1; }));
}

TEST(UdpTransport, ABurstIsAnsweredAndInNoWindow) {
  const std::uint16_t port = freePort();
  Agent one({host(1)}, port);
  Agent two({host(2)}, port);
  const auto slow = assignmentOf("a", host(1), {host(2), host(3)});
  slow->probe.interval = kHour;  // its own pings leave within 400 ms, and no more
  slow->probe.timeout = 300 * kMillisecond;
  one.transport->setWork({{slow}, nullptr});
  EXPECT_TRUE(one.transport->burstPings().empty());
  ASSERT_TRUE(eventually([&] {  // a very busy machine may stall during all pings of one
    one.transport->startBurst(makeBurst(*slow, host(2), 0, 20, 2 * kMillisecond));
    if (!eventually([&] { return one.transport->burstPings().size() == 20; })) return false;
    const auto pings = one.transport->burstPings();
    return std::any_of(pings.begin(), pings.end(),
                       [](const BurstPing& ping) { return ping.network.has_value(); });
  }));
  std::uint32_t sequence = 0;
  for (const BurstPing& ping : one.transport->burstPings()) {
    EXPECT_EQ(ping.sequence, ++sequence);
    EXPECT_EQ(ping.fate, PingFate::kReceived);
    const bool stalled = ping.anomaly == Anomaly::kStalled;
    EXPECT_TRUE(stalled || ping.rtt.value_or(0) > ping.network.value_or(1)) << sequence;
  }
  // No socket listens there, so the kernel reports that the PING is refused.
  one.transport->startBurst(makeBurst(*slow, host(3), 0, 2, kMillisecond));
  ASSERT_TRUE(eventually([&] { return one.transport->burstPings().size() == 2; }));
  EXPECT_EQ(one.transport->burstPings()[0].fate, PingFate::kRefused);
  one.transport->endBurst();
  EXPECT_TRUE(one.transport->burstPings().empty());
  EXPECT_GE(one.transport->counters().pings_sent, 22U);
  const auto pairs = one.flush()["a"];
  ASSERT_LE(pairs.size(), 2U);
  for (const PairWindow& pair : pairs) EXPECT_LE(pair.sent, 1U);
}

TEST(UdpTransport, CountsDuplicatesAndDropsWhatDoesNotBelong) {
  const std::uint16_t port = freePort();
  Agent agent({host(1)}, port);
  const RawPeer peer(host(3), port);
  const RawPeer stranger(host(4), port);
  agent.transport->setWork({{assignmentOf("a", host(1), {host(3)})}, nullptr});
  const auto ping = peer.receive();
  ASSERT_EQ(ping.bytes.size(), wire::kPingPaddedBytes);
  EXPECT_EQ(ping.message.incarnation, 77U);
  EXPECT_EQ(ping.from, (SocketAddress{host(1), port}));
  auto wrong = ping.message;
  ++wrong.nonce;
  peer.send(bytesOf(wire::ProbeType::kPong, wrong), ping.from);
  wrong = ping.message;
  wrong.id += 1U << 17;
  peer.send(bytesOf(wire::ProbeType::kPong, wrong), ping.from);
  stranger.send(bytesOf(wire::ProbeType::kPong, ping.message), ping.from);
  auto broken = bytesOf(wire::ProbeType::kPong, ping.message);
  broken[0] = 0;
  peer.send(broken, ping.from);
  broken.resize(5);
  peer.send(broken, ping.from);
  broken = bytesOf(wire::ProbeType::kPong, ping.message);
  broken[2] = 99;
  peer.send(broken, ping.from);
  broken[2] = wire::kProbeVersion;
  broken[3] = 9;
  peer.send(broken, ping.from);
  for (int i = 0; i < 3; ++i) peer.send(bytesOf(wire::ProbeType::kPong, ping.message), ping.from);
  auto ack = ping.message;
  ack.responder_ns = 1;
  peer.send(bytesOf(wire::ProbeType::kAck, ack), ping.from);
  broken[3] = static_cast<std::uint8_t>(wire::ProbeType::kPong);
  broken.push_back(0);
  peer.send(broken, ping.from);
  // They arrive in order, so when the last one has been handled, all have.
  EXPECT_TRUE(eventually([&] { return agent.dropped(DropReason::kLength) == 1; }));
  for (const DropReason reason :
       {DropReason::kNonce, DropReason::kUnknownId, DropReason::kSource, DropReason::kMagic,
        DropReason::kShort, DropReason::kVersion, DropReason::kType}) {
    EXPECT_EQ(agent.dropped(reason), 1U) << static_cast<int>(reason);
  }
  const auto pairs = agent.flush()["a"];
  EXPECT_EQ(pairs[0].received, 1U);
  EXPECT_EQ(pairs[0].duplicate, 2U);
}

TEST(UdpTransport, RefusedPortsDoNotDisturbTheOthers) {
  const std::uint16_t port = freePort();
  Agent agent({host(1)}, port);
  Agent other({host(2)}, port);
  plan::AddressList targets = {host(2)};
  for (std::uint32_t i = 50; i < 100; ++i) targets.push_back(host(i));  // no socket listens there
  other.transport->setWork({{}, guestsOf({host(1)})});
  std::vector<PairWindow> pairs;
  EXPECT_TRUE(eventually([&] {  // a very busy machine may stall during all exchanges of a while
    agent.transport->setWork({{assignmentOf("a", host(1), targets)}, nullptr});
    const auto enough = agent.transport->counters().pings_sent + 51 * 20;
    if (!eventually([&] { return agent.transport->counters().pings_sent > enough; })) return false;
    pairs = agent.flush()["a"];
    return pairs[0].network.count() > 0;
  })) << "the transmit timestamps are still told apart";
  ASSERT_EQ(pairs.size(), 51U);
  EXPECT_EQ(pairs[0].received, pairs[0].sent);
  EXPECT_GT(pairs[0].received, 10U);
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    EXPECT_GT(pairs[i].refused, 10U) << i;
    EXPECT_EQ(pairs[i].refused, pairs[i].sent) << i;
  }
}

TEST(UdpTransport, WhatCannotBeSentIsUnreachable) {
  const std::uint16_t port = freePort();
  Agent agent({host(1)}, port);
  // A broadcast needs a permission that the socket does not have.
  agent.transport->setWork(
      {{assignmentOf("a", host(1), {IpAddress::fromV4(0xffffffff)})}, nullptr});
  EXPECT_TRUE(eventually([&] { return agent.transport->counters().pings_sent > 5; }));
  const auto pairs = agent.flush()["a"];
  EXPECT_GT(pairs[0].unreachable, 4U);
  EXPECT_EQ(pairs[0].unreachable, pairs[0].sent);
}

TEST(UdpTransport, SilenceIsALossAfterTimeoutAndGrace) {
  const std::uint16_t port = freePort();
  Agent agent({host(1)}, port);
  const RawPeer silent(host(3), port);
  auto assignment = assignmentOf("a", host(1), {host(3)});
  assignment->probe.timeout = 10 * kMillisecond;
  assignment->probe.window = 100 * kMillisecond;
  agent.transport->setWork({{assignment}, nullptr});
  pollfd ready{agent.queue.descriptor(), POLLIN, 0};
  ASSERT_EQ(poll(&ready, 1, kPatience / kMillisecond), 1);
  const auto closed = agent.queue.takeAll();
  ASSERT_FALSE(closed.empty());
  EXPECT_GT(closed[0].pairs[0].lost, 0U);
  EXPECT_EQ(closed[0].pairs[0].lost, closed[0].pairs[0].sent);
  EXPECT_EQ(closed[0].clock, ClockSource::kKernel);
}

TEST(UdpTransport, AnswersFromTheAddressThatWasAsked) {
  const std::uint16_t port = freePort();
  Agent agent({IpAddress()}, port);
  const RawPeer peer(host(3), 0);
  const int on = 1;
  setsockopt(peer.descriptor(), IPPROTO_IP, IP_TOS, std::array<int, 1>{104}.data(), sizeof(int));
  setsockopt(peer.descriptor(), IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
  peer.send(pingBytes(5), {host(200), port});
  const auto pong = peer.receive();
  EXPECT_EQ(pong.message.type, wire::ProbeType::kPong);
  EXPECT_EQ(pong.from, (SocketAddress{host(200), port}));
  EXPECT_EQ(pong.message.id, 5U);
  EXPECT_EQ(pong.message.nonce, 0x1122334455667788U);
  EXPECT_EQ(pong.message.incarnation, 77U);
  EXPECT_EQ(pong.message.clock, static_cast<std::uint8_t>(ClockSource::kKernel));
  pollfd ready{peer.descriptor(), POLLIN, 0};
  ASSERT_EQ(poll(&ready, 1, kPatience / kMillisecond), 1);
  std::array<std::uint8_t, 100> bytes{};
  alignas(cmsghdr) std::array<std::uint8_t, 100> control{};
  iovec data{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t length = recvmsg(peer.descriptor(), &header, MSG_DONTWAIT);
  ASSERT_EQ(length, static_cast<ssize_t>(wire::kAckBytes));
  wire::ProbeMessage ack;
  ASSERT_EQ(wire::parse(std::span(bytes).first(wire::kAckBytes), ack),
            wire::ProbeParseError::kNone);
  EXPECT_EQ(ack.type, wire::ProbeType::kAck);
  EXPECT_EQ(ack.nonce, pong.message.nonce);
  EXPECT_LE(pong.bytes.size() + wire::kAckBytes, wire::kPingMinBytes);
  const cmsghdr* tos = CMSG_FIRSTHDR(&header);
  ASSERT_NE(tos, nullptr);
  EXPECT_EQ(tos->cmsg_type, IP_TOS);
  EXPECT_EQ(*CMSG_DATA(tos), 104) << "the traffic class of the PING";
}

TEST(UdpTransport, ALaterPongIsAsGoodAsAnAck) {
  const std::uint16_t port = freePort();
  Agent agent({IpAddress()}, port);
  const RawPeer peer(host(3), 0);
  const auto ping = [&](std::uint32_t id, const IpAddress& to) {
    peer.send(pingBytes(id, wire::kPingPaddedBytes, wire::kFlagDeferrable), {to, port});
    const auto pong = peer.receive();
    EXPECT_EQ(pong.message.type, wire::ProbeType::kPong) << id;
    EXPECT_EQ(pong.message.id, id);
    return pong.message;
  };
  EXPECT_EQ(ping(1, host(200)).residence_count, 0U);
  EXPECT_EQ(ping(2, host(201)).residence_count, 0U) << "another address of this host";
  const auto third = ping(3, host(200));
  ASSERT_EQ(third.residence_count, 1U);
  EXPECT_EQ(third.residences[0].id, 1U);
  EXPECT_TRUE(third.residences[0].known);
  EXPECT_GT(third.residences[0].responder_ns, 0U);
  const auto fourth = ping(4, host(200));
  ASSERT_EQ(fourth.residence_count, 2U);
  EXPECT_EQ(fourth.residences[0].id, 3U);
  EXPECT_EQ(fourth.residences[1], third.residences[0]);
  // No PING follows to either address.
  for (const std::uint32_t id : {2U, 4U}) {
    const auto ack = peer.receive();
    EXPECT_EQ(ack.message.type, wire::ProbeType::kAck);
    EXPECT_EQ(ack.message.id, id);
    EXPECT_EQ(ack.message.nonce, 0x1122334455667788U);
    EXPECT_GT(ack.message.responder_ns, 0U);
    EXPECT_EQ(ack.from, (SocketAddress{host(id == 2 ? 201 : 200), port}));
  }
  EXPECT_EQ(ping(5, host(200)).residence_count, 0U) << "it has forgotten the source";
}

// PINGs that are forged in a host's name neither learn of its exchanges nor take anything from it.
TEST(UdpTransport, TellsAnotherIncarnationNothing) {
  const std::uint16_t port = freePort();
  Agent agent({host(1)}, port);
  const RawPeer peer(host(3), 0);
  const auto told = [&](std::uint32_t id, std::uint32_t incarnation) {
    peer.send(pingBytes(id, wire::kPingPaddedBytes, wire::kFlagDeferrable, incarnation),
              {host(1), port});
    const auto pong = peer.receive();
    EXPECT_EQ(pong.message.id, id);
    return pong.message.residence_count;
  };
  EXPECT_EQ(told(1, 700), 0U);
  for (std::uint32_t id = 2; id < 8; ++id) EXPECT_EQ(told(id, 700 + id), 0U);
  EXPECT_EQ(told(8, 700), 1U);
}

TEST(UdpTransport, SendsTheAcksThatItOwesBeforeItStops) {
  const std::uint16_t port = freePort();
  Agent agent({host(1)}, port);
  const RawPeer peer(host(3), 0);
  peer.send(pingBytes(1, wire::kPingPaddedBytes, wire::kFlagDeferrable), {host(1), port});
  EXPECT_EQ(peer.receive().message.type, wire::ProbeType::kPong);
  const Nanos begin = monotonicNow();
  agent.transport->flush();
  EXPECT_EQ(peer.receive().message.type, wire::ProbeType::kAck);
  EXPECT_LT(monotonicNow() - begin, kSecond);
}

TEST(UdpTransport, ShortPingsGetNoAcksLaterEither) {
  const std::uint16_t port = freePort();
  Agent agent({host(1)}, port);
  const RawPeer peer(host(3), 0);
  const std::uint16_t shortest = wire::kPingMinBytes + wire::kUdpV4Headers;
  for (std::uint32_t id = 1; id <= 3; ++id) {
    peer.send(pingBytes(id, shortest - 1, wire::kFlagDeferrable), {host(1), port});
    const auto pong = peer.receive();
    EXPECT_EQ(pong.message.id, id);
    EXPECT_EQ(pong.message.residence_count, 0U);
  }
  agent.transport->flush();
  peer.send(pingBytes(4), {host(1), port});
  EXPECT_EQ(peer.receive().message.type, wire::ProbeType::kPong) << "no ACK before it";
}

TEST(UdpTransport, AnswersPingsOfEverySizeThatIsAllowed) {
  const std::uint16_t port = freePort();
  Agent agent({host(1)}, port);
  const RawPeer peer(host(3), 0);
  const std::size_t shortest = wire::kPingMinBytes + wire::kUdpV4Headers;
  for (const std::size_t length : {shortest, wire::kPingPaddedBytes, wire::kPingMaxBytes}) {
    peer.send(pingBytes(static_cast<std::uint32_t>(length), static_cast<std::uint16_t>(length)),
              {host(1), port});
    EXPECT_EQ(peer.receive().message.id, length);
    EXPECT_EQ(peer.receive().message.type, wire::ProbeType::kAck);
  }
  // PONG and ACK together would be larger as packets than these.
  for (const std::size_t length : {wire::kPingMinBytes, shortest - 1}) {
    peer.send(pingBytes(static_cast<std::uint32_t>(length), static_cast<std::uint16_t>(length)),
              {host(1), port});
    EXPECT_EQ(peer.receive().message.type, wire::ProbeType::kPong);
  }
  peer.send(pingBytes(7, wire::kPingPaddedBytes), {host(1), port});
  EXPECT_EQ(peer.receive().message.type, wire::ProbeType::kPong) << "no ACK before it";
  EXPECT_EQ(peer.receive().message.id, 7U);
  auto small = pingBytes(1);
  small.resize(wire::kPingMinBytes - 1);
  small[7] = static_cast<std::uint8_t>(small.size());
  peer.send(small, {host(1), port});
  EXPECT_TRUE(eventually([&] { return agent.dropped(DropReason::kLength) == 1; }));
}

TEST(UdpTransport, UnknownSourcesAreRateLimitedTogether) {
  const std::uint16_t port = freePort();
  Agent agent({host(1)}, port);
  const RawPeer stranger(host(3), 0);
  const RawPeer other_stranger(host(4), 0);
  const Nanos begin = monotonicNow();
  const auto ping = pingBytes(1);
  EXPECT_TRUE(eventually([&] {
    for (int i = 0; i < 500; ++i) {
      stranger.send(ping, {host(1), port});
      other_stranger.send(ping, {host(1), port});
    }
    return agent.dropped(DropReason::kRateLimited) > 0;
  }));
  const std::uint64_t answered = agent.transport->counters().pings_answered;
  const Nanos took = monotonicNow() - begin;
  EXPECT_GE(answered, GuestList::kStrangersPerSecond);
  EXPECT_LE(answered,
            GuestList::kStrangersPerSecond * (1 + took / kSecond) + GuestList::kStrangersPerSecond);
  const RawPeer friendly(host(9), 0);
  agent.transport->setWork({{}, guestsOf({host(9)})});
  friendly.send(ping, {host(1), port});
  EXPECT_EQ(friendly.receive().message.type, wire::ProbeType::kPong);
}

TEST(UdpTransport, APlanChangeKeepsWhatWasMeasured) {
  const std::uint16_t port = freePort();
  Agent agent({host(1)}, port);
  Agent other({host(2)}, port);
  other.transport->setWork({{}, guestsOf({host(1)})});
  agent.transport->setWork({{assignmentOf("a", host(1), {host(2)})}, nullptr});
  EXPECT_TRUE(eventually([&] { return other.transport->counters().pings_answered > 20; }));
  const auto sent = agent.transport->counters().pings_sent;
  agent.transport->setWork({{assignmentOf("a", host(1), {host(1), host(2)})}, nullptr});
  EXPECT_TRUE(eventually([&] { return agent.transport->counters().pings_sent > sent + 10; }));
  const auto pairs = agent.flush()["a"];
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_GT(pairs[0].received, 0U);
  EXPECT_GT(pairs[1].received, 20U);
  for (const PairWindow& pair : pairs) expectSumsUp(pair);
  const auto after = agent.transport->counters().pings_sent;
  EXPECT_EQ(agent.transport->counters().pings_sent, after) << "flush() has stopped it";
}

TEST(UdpTransport, MeasuresOverIpv6) {
  const IpAddress loopback = *IpAddress::parse("::1");
  const UniqueFd trial(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage storage{};
  const socklen_t size = loopback.toSockaddr(0, storage);
  if (!trial.valid() || bind(trial.get(), reinterpret_cast<sockaddr*>(&storage), size) != 0) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
  const std::uint16_t port = freePort();
  Agent agent({}, port);  // all addresses of both families
  auto assignment = assignmentOf("a", loopback, {loopback});
  assignment->probe.traffic_class = 106;
  auto refused = assignmentOf("b", loopback, {loopback});
  refused->probe.port = freePort();
  agent.transport->setWork({{assignment, refused}, guestsOf({loopback})});
  EXPECT_TRUE(eventually([&] { return agent.transport->counters().pings_answered > 20; }));
  auto sums = agent.flush();
  EXPECT_GT(sums["a"][0].network.count(), 0U);
  EXPECT_EQ(sums["a"][0].received, sums["a"][0].sent);
  EXPECT_GT(sums["b"][0].refused, 0U);
}

TEST(UdpTransport, APortInUseIsAnErrorThatNamesIt) {
  const std::uint16_t port = freePort();
  const RawPeer holder(host(1), port);
  WindowClock clock{0};
  WindowQueue queue;
  AgentContext context;
  context.listen = {host(1)};
  context.port = port;
  context.clock = &clock;
  context.windows = &queue;
  const auto made = makeTransport(context);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().text().find(SocketAddress{host(1), port}.text()), std::string::npos)
      << made.error().text();
}

}  // namespace
}  // namespace pingloom::probe::udp::transport_test
