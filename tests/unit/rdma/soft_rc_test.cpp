// RC endpoints of two soft devices on loopback: real sockets, real packets, real time.
#include <gtest/gtest.h>
#include <poll.h>

#include "common/fd.h"
#include "soft_rc_host.h"
#include "unit/eventually.h"

namespace pingloom::rdma::soft::soft_rc_test {
namespace {

SoftOptions withOtherDice(SoftOptions soft) {
  if (soft.impairments.seed != 0) ++soft.impairments.seed;
  return soft;
}

class Hosts {
 public:
  explicit Hosts(const RcOptions& rc = permitting(kAll), const SoftOptions& soft = {})
      : a(freshLoopback(), rc, soft), b(freshLoopback(), rc, withOtherDice(soft)) {}
  bool connect() {
    return a.endpoint->connect(b.endpoint->address()) && b.endpoint->connect(a.endpoint->address());
  }
  bool post(RcOperation operation, std::size_t offset, std::size_t length, std::uint64_t id = 1,
            std::uint64_t operand = 0, std::uint64_t compare = 0) {
    const std::array<LocalPiece, 1> pieces = {
        {{a.region.get(), std::span(a.memory).subspan(offset, length)}}};
    RcRequest request;
    request.operation = operation;
    request.id = id;
    request.local = pieces;
    request.remote_address = b.region->address() + offset;
    request.rkey = rkey.value_or(b.region->rkey());
    request.immediate = 0xFEED;
    request.add_or_swap = operand;
    request.compare = compare;
    return a.endpoint->post(request) == PostResult::kPosted;
  }
  // As an event loop would, until as many are done.
  bool untilDone(std::size_t count) {
    a.endpoint->flush();
    return until([&] { return a.done.size() >= count; });
  }
  template <typename Done>
  bool until(Done&& done) {
    const auto polled = [&] {
      a.poll();
      b.poll();
      return done();
    };
    return test::eventually(polled, [&] {
      const Nanos due = std::min(a.endpoint->nextWake(), b.endpoint->nextWake()) - monotonicNow();
      const timespec timeout = {0, std::clamp<Nanos>(due, 0, 100 * kMillisecond)};
      std::array<pollfd, 2> readable = {
          {{a.endpoint->descriptor(), POLLIN, 0}, {b.endpoint->descriptor(), POLLIN, 0}}};
      ppoll(readable.data(), readable.size(), &timeout, nullptr);
    });
  }
  bool same(std::size_t offset, std::size_t length) const {
    return std::equal(a.memory.begin() + static_cast<std::ptrdiff_t>(offset),
                      a.memory.begin() + static_cast<std::ptrdiff_t>(offset + length),
                      b.memory.begin() + static_cast<std::ptrdiff_t>(offset));
  }

  RcHost a;
  RcHost b;
  std::optional<std::uint32_t> rkey;  // instead of the right one
};

struct Path {
  const char* name;
  std::uint32_t mtu;
  Impairment impairment;
  bool raw;
};
std::ostream& operator<<(std::ostream& out, const Path& path) {
  return out << path.name << path.mtu;
}

class SoftRcPath : public testing::TestWithParam<Path> {};

TEST_P(SoftRcPath, IsByteExactAtEverySize) {
  SoftOptions soft;
  soft.impairments.everywhere = GetParam().impairment;
  soft.impairments.seed = 1;
  soft.raw_socket = GetParam().raw;
  Hosts hosts(permitting(kAll, GetParam().mtu), soft);
  ASSERT_TRUE(hosts.a.endpoint && hosts.b.endpoint);
  ASSERT_TRUE(hosts.connect());
  std::size_t done = 0;
  for (const auto operation :
       {RcOperation::kRead, RcOperation::kWrite, RcOperation::kWriteImmediate}) {
    for (const std::size_t size : {0UL, 1UL, 13UL, 4'000UL, 65'536UL, 1UL << 20}) {
      const std::size_t offset = size % 7 + 1;
      std::fill_n(hosts.a.memory.begin() + static_cast<std::ptrdiff_t>(offset), size,
                  static_cast<std::uint8_t>(size + done));
      ASSERT_TRUE(hosts.post(operation, offset, size));
      ASSERT_TRUE(hosts.untilDone(++done)) << size << " " << hosts.a.why;
      ASSERT_EQ(hosts.a.done.back().status, RcStatus::kOk)
          << size << " bytes: " << hosts.a.why << hosts.b.why << hosts.a.allDrops()
          << hosts.b.allDrops();
      EXPECT_TRUE(hosts.same(offset, size)) << size;
    }
  }
  ASSERT_TRUE(hosts.until([&] { return hosts.b.arrived.size() == 6; }));
  EXPECT_EQ(hosts.b.arrived[5].bytes, 1U << 20);
  EXPECT_EQ(hosts.b.arrived[5].immediate, 0xFEEDU);
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(hosts.post(RcOperation::kFetchAdd, 0, 8, i, 1));
  }
  const auto before = *reinterpret_cast<std::uint64_t*>(hosts.b.memory.data());
  ASSERT_TRUE(hosts.untilDone(done += 100));
  EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(hosts.b.memory.data()), before + 100);
  const auto seen = *reinterpret_cast<std::uint64_t*>(hosts.a.memory.data());
  EXPECT_TRUE(seen >= before && seen < before + 100) << "of one of them: losses change their order";
  ASSERT_TRUE(hosts.post(RcOperation::kCompareSwap, 0, 8, 1, 77, before + 100));
  ASSERT_TRUE(hosts.untilDone(++done));
  EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(hosts.b.memory.data()), 77U);
  // Packets lie beside each other in memory until they leave, and none in another's place.
  EXPECT_EQ(hosts.a.allDrops().find("icrc"), std::string::npos) << hosts.a.allDrops();
  EXPECT_EQ(hosts.b.allDrops().find("icrc"), std::string::npos) << hosts.b.allDrops();
}

constexpr Impairment kLoss1{.loss = 0.01};
constexpr Impairment kLoss10{.loss = 0.1};
constexpr Impairment kTwice{.duplicate = 0.2};
constexpr Impairment kShuffle{.delay = kMillisecond, .jitter = 200 * kMicrosecond};
INSTANTIATE_TEST_SUITE_P(
    All, SoftRcPath,
    testing::Values(Path{"Calm", 256, {}, true}, Path{"Calm", 1024, {}, true},
                    Path{"Calm", 4096, {}, true}, Path{"Residual", 1024, {}, false},
                    Path{"Residual", 4096, {}, false}, Path{"Loss1x", 1024, kLoss1, true},
                    Path{"Loss10x", 1024, kLoss10, true}, Path{"Loss10x", 4096, kLoss10, true},
                    Path{"Twice", 1024, kTwice, true}, Path{"Shuffle", 4096, kShuffle, true}),
    [](const auto& one) { return one.param.name + std::to_string(one.param.mtu); });

// Only one address of ::1 can have the port: both endpoints live on one device.
TEST(SoftRc, WorksOverIpv6BetweenEndpointsOfOneDevice) {
  RcHost host(*IpAddress::parse("::1"));
  if (!host.endpoint) GTEST_SKIP() << "no IPv6 on loopback, or another test has it";
  auto peer = std::move(*host.domain->createRc(permitting(kAll)));
  ASSERT_TRUE(host.endpoint->connect(peer->address()) && peer->connect(host.endpoint->address()));
  const std::array<LocalPiece, 1> pieces = {
      {{host.region.get(), std::span(host.memory).subspan(0, 100'000)}}};
  RcRequest request;
  request.local = pieces;
  request.remote_address = host.region->address() + 200'001;
  request.rkey = host.region->rkey();
  ASSERT_EQ(host.endpoint->post(request), PostResult::kPosted);
  host.endpoint->flush();
  RcEvents events;
  for (int i = 0; i < 10'000 && host.done.empty(); ++i) {
    host.poll();
    ASSERT_TRUE(peer->poll(events));
  }
  ASSERT_EQ(host.done.size(), 1U);
  EXPECT_EQ(host.done[0].status, RcStatus::kOk);
  EXPECT_TRUE(std::equal(host.memory.begin(), host.memory.begin() + 100'000,
                         host.memory.begin() + 200'001));
}

TEST(SoftRc, HasALife) {
  Hosts hosts;
  ASSERT_TRUE(hosts.a.endpoint && hosts.b.endpoint);
  EXPECT_EQ(hosts.a.endpoint->state(), RcState::kNew);
  EXPECT_FALSE(hosts.post(RcOperation::kRead, 0, 8));
  ASSERT_TRUE(hosts.connect());
  EXPECT_EQ(hosts.a.endpoint->state(), RcState::kConnected);
  EXPECT_FALSE(hosts.a.endpoint->connect(hosts.b.endpoint->address())) << "once only";
  hosts.rkey = hosts.b.region->rkey() ^ 1;
  ASSERT_TRUE(hosts.post(RcOperation::kRead, 0, 8, 5));
  ASSERT_TRUE(hosts.post(RcOperation::kWrite, 0, 8, 6));
  ASSERT_TRUE(hosts.untilDone(2));
  EXPECT_EQ(hosts.a.done[0].status, RcStatus::kRemoteAccess);
  EXPECT_EQ(hosts.a.done[1].status, RcStatus::kFlushed);
  EXPECT_EQ(hosts.a.endpoint->state(), RcState::kFailed);
  EXPECT_EQ(hosts.b.endpoint->state(), RcState::kFailed) << "the refusing side as well";
  EXPECT_EQ(hosts.b.why, "the peer used an rkey that no region has");
  EXPECT_EQ(hosts.b.drops("rkey"), 1U);
  EXPECT_FALSE(hosts.post(RcOperation::kRead, 0, 8));

  // A new endpoint on each side, and it goes on.
  hosts.rkey.reset();
  hosts.a.endpoint = std::move(*hosts.a.domain->createRc(permitting(kAll)));
  hosts.b.endpoint = std::move(*hosts.b.domain->createRc(permitting(kAll)));
  ASSERT_TRUE(hosts.connect());
  ASSERT_TRUE(hosts.post(RcOperation::kRead, 0, 8, 7));
  ASSERT_TRUE(hosts.untilDone(3));
  EXPECT_EQ(hosts.a.done[2].status, RcStatus::kOk);
}

TEST(SoftRc, ADeregisteredRegionIsGoneAtOnce) {
  Hosts hosts;
  ASSERT_TRUE(hosts.a.endpoint && hosts.b.endpoint && hosts.connect());
  ASSERT_TRUE(hosts.post(RcOperation::kRead, 0, 8));
  ASSERT_TRUE(hosts.untilDone(1));
  const std::uint64_t address = hosts.b.region->address();
  hosts.rkey = hosts.b.region->rkey();
  hosts.b.region = std::move(*hosts.b.domain->registerMemory(hosts.b.memory, kAll));
  const std::array<LocalPiece, 1> pieces = {
      {{hosts.a.region.get(), std::span(hosts.a.memory).subspan(0, 8)}}};
  RcRequest request;
  request.local = pieces;
  request.remote_address = address;
  request.rkey = *hosts.rkey;
  ASSERT_EQ(hosts.a.endpoint->post(request), PostResult::kPosted);
  ASSERT_TRUE(hosts.untilDone(2));
  EXPECT_EQ(hosts.a.done[1].status, RcStatus::kRemoteAccess);
}

TEST(SoftRc, ARegionOfAnotherDomainCannotBeReached) {
  Hosts hosts;
  ASSERT_TRUE(hosts.a.endpoint && hosts.b.endpoint && hosts.connect());
  const auto other = std::move(*hosts.b.device->createDomain());
  std::vector<std::uint8_t> secret(8, 0x3C);
  const auto region = std::move(*other->registerMemory(secret, kAll));
  std::fill_n(hosts.a.memory.begin(), 8, std::uint8_t{0});
  const std::array<LocalPiece, 1> pieces = {
      {{hosts.a.region.get(), std::span(hosts.a.memory).subspan(0, 8)}}};
  RcRequest request;
  request.local = pieces;
  request.remote_address = region->address();
  request.rkey = region->rkey();
  ASSERT_EQ(hosts.a.endpoint->post(request), PostResult::kPosted);
  ASSERT_TRUE(hosts.untilDone(1));
  EXPECT_EQ(hosts.a.done[0].status, RcStatus::kRemoteAccess);
  EXPECT_EQ(hosts.b.drops("rkey"), 1U);
  EXPECT_EQ(hosts.a.memory[0], 0) << "it was read";

  // An endpoint of that domain reaches it.
  hosts.a.endpoint = std::move(*hosts.a.domain->createRc(permitting(kAll)));
  hosts.b.endpoint = std::move(*other->createRc(permitting(kAll)));
  ASSERT_TRUE(hosts.connect());
  ASSERT_EQ(hosts.a.endpoint->post(request), PostResult::kPosted);
  ASSERT_TRUE(hosts.untilDone(2));
  EXPECT_EQ(hosts.a.done[1].status, RcStatus::kOk);
  EXPECT_EQ(hosts.a.memory[0], 0x3C);
}

TEST(SoftRc, ASilentPeerEndsEverythingInTime) {
  RcOptions options = permitting(kAll);
  options.timeout = 10;  // 4 ms
  options.retries = 2;
  Hosts hosts(options);
  ASSERT_TRUE(hosts.a.endpoint && hosts.b.endpoint && hosts.connect());
  hosts.b.endpoint = std::move(*hosts.b.domain->createRc(options));  // the former one is gone
  for (std::uint64_t i = 0; i < 10; ++i) ASSERT_TRUE(hosts.post(RcOperation::kRead, 0, 8, i));
  ASSERT_TRUE(hosts.untilDone(10));
  EXPECT_EQ(hosts.a.done[0].status, RcStatus::kRetriesExceeded);
  for (std::size_t i = 1; i < 10; ++i) EXPECT_EQ(hosts.a.done[i].status, RcStatus::kFlushed);
  EXPECT_GE(hosts.b.drops("qpn"), 1U);
}

TEST(SoftRc, PacketsFromElsewhereAreNotThePeers) {
  Hosts hosts;
  RcHost stranger(freshLoopback());
  ASSERT_TRUE(hosts.a.endpoint && hosts.b.endpoint && stranger.endpoint && hosts.connect());
  ASSERT_TRUE(stranger.endpoint->connect(hosts.b.endpoint->address()));
  const std::array<LocalPiece, 1> pieces = {
      {{stranger.region.get(), std::span(stranger.memory).subspan(0, 8)}}};
  RcRequest request;
  request.operation = RcOperation::kWrite;
  request.local = pieces;
  request.remote_address = hosts.b.region->address();
  request.rkey = hosts.b.region->rkey();
  const std::uint8_t before = hosts.b.memory[0];
  ASSERT_EQ(stranger.endpoint->post(request), PostResult::kPosted);
  stranger.endpoint->flush();
  ASSERT_TRUE(hosts.until([&] { return hosts.b.drops("peer") > 0; }));
  EXPECT_EQ(hosts.b.memory[0], before);
  ASSERT_TRUE(hosts.post(RcOperation::kRead, 0, 8));
  EXPECT_TRUE(hosts.untilDone(1));
  EXPECT_EQ(hosts.a.done[0].status, RcStatus::kOk);
}

TEST(SoftRc, ManyConnectionsShareTheReceiveBuffer) {
  Hosts hosts;
  ASSERT_TRUE(hosts.a.endpoint && hosts.b.endpoint && hosts.connect());
  std::vector<std::unique_ptr<RcEndpoint>> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(std::move(*hosts.a.domain->createRc(permitting(kAll))));
    ASSERT_TRUE(idle.back()->connect(hosts.b.endpoint->address()));
  }
  ASSERT_TRUE(hosts.post(RcOperation::kRead, 0, 1 << 20));
  ASSERT_TRUE(hosts.untilDone(1));
  EXPECT_TRUE(hosts.same(0, 1 << 20));
}

TEST(SoftRc, LeavesNothingBehind) {
  Hosts hosts;
  ASSERT_TRUE(hosts.a.endpoint && hosts.b.endpoint);
  const auto highest_descriptor = [] { return UniqueFd(dup(0)).get(); };
  const int before = highest_descriptor();
  for (int i = 0; i < 1000; ++i) {
    auto region = hosts.a.domain->registerMemory(hosts.a.memory, kAll);
    auto endpoint = hosts.a.domain->createRc(permitting(kAll));
    ASSERT_TRUE(region && endpoint);
    ASSERT_TRUE((*endpoint)->connect(hosts.b.endpoint->address()));
  }
  EXPECT_EQ(highest_descriptor(), before);
  ASSERT_TRUE(hosts.connect());
  ASSERT_TRUE(hosts.post(RcOperation::kRead, 0, 8));
  EXPECT_TRUE(hosts.untilDone(1));
}

TEST(SoftRc, RefusesOptionsThatMakeNoSense) {
  RcHost host(freshLoopback());
  ASSERT_TRUE(host.endpoint);
  const auto refuses = [&](auto&& change) {
    RcOptions options = permitting(kAll);
    change(options);
    return !host.domain->createRc(options);
  };
  EXPECT_TRUE(refuses([](RcOptions& options) { options.mtu = 1000; }));
  EXPECT_TRUE(refuses([](RcOptions& options) { options.timeout = 0; }));
  EXPECT_TRUE(refuses([](RcOptions& options) { options.timeout = 32; }));
  EXPECT_TRUE(refuses([](RcOptions& options) { options.reads = 0; }));
  EXPECT_TRUE(refuses([](RcOptions& options) { options.depth = 0; }));
  EXPECT_TRUE(refuses([](RcOptions& options) { options.p_key_index = 1; }));
  RcAddress peer = host.endpoint->address();
  peer.mtu = 0;
  EXPECT_FALSE(host.endpoint->connect(peer));
  peer.mtu = 1024;
  peer.gid = Gid::of(*IpAddress::parse("::1"));
  EXPECT_FALSE(host.endpoint->connect(peer)) << "of another family";
  EXPECT_EQ(host.endpoint->state(), RcState::kNew);
}

}  // namespace
}  // namespace pingloom::rdma::soft::soft_rc_test
