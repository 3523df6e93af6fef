#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "rc_host.h"
#include "unit/eventually.h"

namespace pingloom::rdma::verbs::rc_endpoint_test {
namespace {

constexpr const char* kTwoNics =
    "device nic_a\nport 1 mtu=4096\ngid 0 10.0.0.1 v2\ngid 1 fd00::1 v2\n"
    "device nic_b\nport 1 mtu=1024\ngid 0 10.0.0.2 v2\ngid 1 fd00::2 v2\n";

void fillWithPattern(std::vector<std::uint8_t>& memory, std::uint32_t seed) {
  for (std::uint8_t& byte : memory) {
    seed = seed * 1664525 + 1013904223;
    byte = static_cast<std::uint8_t>(seed >> 24);
  }
}

std::uint64_t wordAt(const std::vector<std::uint8_t>& memory, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, memory.data() + offset, sizeof word);
  return word;
}

class RcEndpointTest : public FakeVerbsTest {
 protected:
  void SetUp() override { setDevices(kTwoNics); }
};

TEST_F(RcEndpointTest, ReadsWhatThePeerHasByteForByte) {
  for (const auto& [here, there] : {std::pair("10.0.0.1", "10.0.0.2"), {"fd00::1", "fd00::2"}}) {
    RcSide a(here);
    RcSide b(there);
    connect(a, b);
    fillWithPattern(b.memory, 7);
    for (const std::size_t bytes : {0UL, 1UL, 13UL, 4000UL, 65536UL, 1048576UL}) {
      std::fill(a.memory.begin(), a.memory.end(), 0xEE);
      const RcRequest read = a.request(RcOperation::kRead, b, bytes, 3);
      ASSERT_EQ(a.post(read), PostResult::kPosted);
      ASSERT_EQ(a.endOf(read.id), RcStatus::kOk) << bytes;
      EXPECT_EQ(std::memcmp(a.memory.data(), b.memory.data() + 3, bytes), 0) << bytes;
      EXPECT_EQ(a.memory[bytes], 0xEE) << "one byte more";
    }
  }
}

TEST_F(RcEndpointTest, ReadGoesToItsPiecesOneAfterTheOther) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  fillWithPattern(b.memory, 9);
  const std::span<std::uint8_t> all(a.memory);
  const std::array<LocalPiece, 4> pieces = {LocalPiece{a.region.get(), all.subspan(5000, 100)},
                                            {a.region.get(), all.subspan(0, 0)},
                                            {a.region.get(), all.subspan(10, 3)},
                                            {a.region.get(), all.subspan(200, 2000)}};
  RcRequest read = a.request(RcOperation::kRead, b, 0);
  read.local = pieces;
  ASSERT_EQ(a.post(read), PostResult::kPosted);
  ASSERT_EQ(a.endOf(read.id), RcStatus::kOk);
  EXPECT_EQ(std::memcmp(all.data() + 5000, b.memory.data(), 100), 0);
  EXPECT_EQ(std::memcmp(all.data() + 10, b.memory.data() + 100, 3), 0);
  EXPECT_EQ(std::memcmp(all.data() + 200, b.memory.data() + 103, 2000), 0);
}

TEST_F(RcEndpointTest, WritesAndTellsOfTheImmediate) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  fillWithPattern(a.memory, 11);
  const RcRequest plain = a.request(RcOperation::kWrite, b, 3000, 1);
  ASSERT_EQ(a.post(plain), PostResult::kPosted);
  ASSERT_EQ(a.endOf(plain.id), RcStatus::kOk);
  EXPECT_EQ(std::memcmp(b.memory.data() + 1, a.memory.data(), 3000), 0);
  ASSERT_TRUE(b.step(0));
  EXPECT_TRUE(b.arrived.empty()) << "a WRITE is the peer's own affair";
  RcRequest told = a.request(RcOperation::kWriteImmediate, b, 64, 8192);
  told.immediate = 0x01020304;
  ASSERT_EQ(a.post(told), PostResult::kPosted);
  ASSERT_EQ(a.endOf(told.id), RcStatus::kOk);
  ASSERT_TRUE(b.step());
  ASSERT_EQ(b.arrived.size(), 1U);
  EXPECT_EQ(b.arrived[0].immediate, 0x01020304U);
  EXPECT_EQ(b.arrived[0].bytes, 64U);
  EXPECT_EQ(std::memcmp(b.memory.data() + 8192, a.memory.data(), 64), 0);
}

TEST_F(RcEndpointTest, ImmediatesThatNobodyTakesWaitForTheirTurn) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  constexpr std::uint32_t kWrites = 20;  // five times what b has receives for
  RcRequest write = a.request(RcOperation::kWriteImmediate, b, 8);
  for (write.immediate = 0; write.immediate < kWrites; ++write.immediate) {
    write.id = 100 + write.immediate;
    ASSERT_EQ(a.endpoint->post(write), PostResult::kPosted);
  }
  a.endpoint->flush();
  ASSERT_TRUE(test::eventually([&] { return b.arrived.size() == kWrites; },
                               [&] { return a.step(1) && b.step(1); }));
  for (std::uint32_t i = 0; i < kWrites; ++i) EXPECT_EQ(b.arrived[i].immediate, i);
  EXPECT_EQ(a.endOf(100 + kWrites - 1), RcStatus::kOk);
}

TEST_F(RcEndpointTest, AddsAndSwapsAndTellsWhatWasBefore) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  b.memory[16] = 40;
  RcRequest add = a.request(RcOperation::kFetchAdd, b, 8, 16);
  add.add_or_swap = 2;
  ASSERT_EQ(a.post(add), PostResult::kPosted);
  ASSERT_EQ(a.endOf(add.id), RcStatus::kOk);
  EXPECT_EQ(wordAt(a.memory, 0), 40U);
  EXPECT_EQ(wordAt(b.memory, 16), 42U);
  RcRequest swap = a.request(RcOperation::kCompareSwap, b, 8, 16);
  swap.compare = 41;
  swap.add_or_swap = 1000;
  ASSERT_EQ(a.post(swap), PostResult::kPosted);
  ASSERT_EQ(a.endOf(swap.id), RcStatus::kOk);
  EXPECT_EQ(wordAt(a.memory, 0), 42U);
  EXPECT_EQ(wordAt(b.memory, 16), 42U) << "it was not 41";
  swap.id = 77;
  swap.compare = 42;
  ASSERT_EQ(a.post(swap), PostResult::kPosted);
  ASSERT_EQ(a.endOf(77), RcStatus::kOk);
  EXPECT_EQ(wordAt(b.memory, 16), 1000U);
}

TEST_F(RcEndpointTest, SmallerMtuAndTheDevicesReadsAreAgreed) {
  setDevices(
      "device nic_a rd_atom=4\nport 1 mtu=4096\ngid 0 10.0.0.1 v2\n"
      "device nic_b rd_atom=8\nport 1 mtu=1024\ngid 0 10.0.0.2 v2\n");
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  EXPECT_EQ(a.endpoint->address().mtu, 4096U);
  EXPECT_EQ(b.endpoint->address().mtu, 1024U);
  EXPECT_EQ(a.endpoint->address().reads, 4);
  EXPECT_EQ(b.endpoint->address().reads, 8);
  connect(a, b);  // the stand-in refuses requests where the ends do not agree
  const RcRequest read = a.request(RcOperation::kRead, b, 5000);
  ASSERT_EQ(a.post(read), PostResult::kPosted);
  EXPECT_EQ(a.endOf(read.id), RcStatus::kOk);
  const RcRequest back = b.request(RcOperation::kRead, a, 5000);
  ASSERT_EQ(b.post(back), PostResult::kPosted);
  EXPECT_EQ(b.endOf(back.id), RcStatus::kOk);
}

TEST_F(RcEndpointTest, SequenceNumbersAreRandom) {
  auto device = openVerbsDevice(at("10.0.0.1"));
  ASSERT_TRUE(device);
  const auto domain = (*device)->createDomain();
  ASSERT_TRUE(domain);
  std::set<std::uint32_t> numbers;
  for (int i = 0; i < 8; ++i) {
    const auto made = (*domain)->createRc({});
    ASSERT_TRUE(made);
    EXPECT_LT((*made)->address().psn, 1U << 24);
    numbers.insert((*made)->address().psn);
  }
  EXPECT_GE(numbers.size(), 7U);
}

TEST_F(RcEndpointTest, ChainGoesWithOneDoorbellAndOnlySignalledOnesAreTold) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  const int before = fakeVerbsDoorbells();
  RcRequest write = a.request(RcOperation::kWrite, b, 100);
  for (write.id = 1; write.id <= 60; ++write.id) {
    write.signalled = write.id % 20 == 0;
    ASSERT_EQ(a.endpoint->post(write), PostResult::kPosted);
  }
  EXPECT_EQ(fakeVerbsDoorbells(), before) << "nothing leaves before the flush";
  a.endpoint->flush();
  EXPECT_EQ(fakeVerbsDoorbells(), before + 1);
  ASSERT_EQ(a.endOf(60), RcStatus::kOk);
  EXPECT_EQ(a.order, (std::vector<std::uint64_t>{20, 40, 60}));
}

TEST_F(RcEndpointTest, UnsignalledRequestsDoNotFillTheQueueForEver) {
  RcOptions options = RcSide::everything();
  options.depth = 8;
  RcSide a("10.0.0.1", options);
  RcSide b("10.0.0.2");
  connect(a, b);
  RcRequest add = a.request(RcOperation::kFetchAdd, b, 8);
  add.add_or_swap = 1;
  add.signalled = false;
  std::uint64_t posted = 0;
  std::uint64_t full = 0;
  ASSERT_TRUE(test::eventually([&] { return posted == 2000; },
                               [&] {
                                 while (posted < 2000 &&
                                        a.endpoint->post(add) == PostResult::kPosted) {
                                   ++posted;
                                 }
                                 ++full;
                                 a.endpoint->flush();
                                 return a.step();
                               }));
  add.signalled = true;
  add.id = 99;
  while (a.post(add) == PostResult::kFull) ASSERT_TRUE(a.step());
  ASSERT_EQ(a.endOf(99), RcStatus::kOk);
  EXPECT_EQ(wordAt(b.memory, 0), 2001U);
  EXPECT_EQ(a.order.size(), 1U);
  EXPECT_GT(full, 10U);
}

TEST_F(RcEndpointTest, BusyPollingNeedsNoEvents) {
  RcOptions options = RcSide::everything();
  options.busy = true;
  RcSide a("10.0.0.1", options);
  RcSide b("10.0.0.2", options);
  connect(a, b);
  EXPECT_LE(a.endpoint->nextWake(), monotonicNow());
  const RcRequest write = a.request(RcOperation::kWriteImmediate, b, 100);
  ASSERT_EQ(a.post(write), PostResult::kPosted);
  EXPECT_EQ(a.endOf(write.id), RcStatus::kOk);
  ASSERT_TRUE(test::eventually([&] { return !b.arrived.empty(); }, [&] { return b.step(); }));
  EXPECT_EQ(b.arrived.size(), 1U);
  pollfd readable{a.endpoint->descriptor(), POLLIN, 0};
  EXPECT_EQ(::poll(&readable, 1, 0), 0) << "no event was asked for";
}

TEST_F(RcEndpointTest, PeerMayBeConnectedLater) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  ASSERT_TRUE(a.endpoint->connect(b.endpoint->address()));
  const RcRequest read = a.request(RcOperation::kRead, b, 100);
  ASSERT_EQ(a.post(read), PostResult::kPosted);
  ASSERT_TRUE(a.step(1));
  ASSERT_TRUE(b.endpoint->connect(a.endpoint->address()));
  EXPECT_EQ(a.endOf(read.id), RcStatus::kOk);
}

TEST_F(RcEndpointTest, NothingIsPostedUnlessConnected) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  EXPECT_EQ(a.endpoint->state(), RcState::kNew);
  EXPECT_EQ(a.post(a.request(RcOperation::kRead, b, 1)), PostResult::kUnreachable);
  connect(a, b);
  EXPECT_EQ(a.endpoint->state(), RcState::kConnected);
  const auto again = a.endpoint->connect(b.endpoint->address());
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().text(), "nic_a port 1: the endpoint is connected, not new");
}

TEST_F(RcEndpointTest, PeersThatCannotBeAreRefused) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  const RcAddress good = b.endpoint->address();
  for (const auto& spoil : std::vector<void (*)(RcAddress&)>{
           [](RcAddress& peer) { peer.mtu = 0; }, [](RcAddress& peer) { peer.mtu = 1500; },
           [](RcAddress& peer) { peer.mtu = 8192; }, [](RcAddress& peer) { peer.qpn = 0; },
           [](RcAddress& peer) { peer.qpn = 1U << 24; },
           [](RcAddress& peer) { peer.psn = 1U << 24; },
           [](RcAddress& peer) { peer.gid = Gid{}; }}) {
    RcAddress bad = good;
    spoil(bad);
    EXPECT_FALSE(a.endpoint->connect(bad));
    EXPECT_EQ(a.endpoint->state(), RcState::kNew);
  }
  EXPECT_TRUE(a.endpoint->connect(good));
}

TEST_F(RcEndpointTest, OptionsThatTheDeviceDoesNotHaveAreRefused) {
  auto device = openVerbsDevice(at("10.0.0.2"));
  ASSERT_TRUE(device);
  const auto domain = (*device)->createDomain();
  ASSERT_TRUE(domain);
  for (const auto& spoil :
       std::vector<void (*)(RcOptions&)>{[](RcOptions& options) { options.mtu = 4096; },
                                         [](RcOptions& options) { options.mtu = 1000; },
                                         [](RcOptions& options) { options.timeout = 0; },
                                         [](RcOptions& options) { options.timeout = 32; },
                                         [](RcOptions& options) { options.retries = 8; },
                                         [](RcOptions& options) { options.rnr_retries = 8; },
                                         [](RcOptions& options) { options.depth = 0; },
                                         [](RcOptions& options) { options.depth = 1U << 20; },
                                         [](RcOptions& options) { options.p_key_index = 7; }}) {
    RcOptions options;
    spoil(options);
    EXPECT_FALSE((*domain)->createRc(options));
  }
}

TEST_F(RcEndpointTest, OverInfinibandByLid) {
  setDevices(
      "device hca_a\nport 1 link=infiniband lid=11 mtu=2048\ngid 0 fe80::11 ib\n"
      "device hca_b\nport 1 link=infiniband lid=21 mtu=2048\ngid 0 fe80::21 ib\n");
  auto open = [](const char* name) { return openVerbsDevice({.device = name}); };
  auto a = open("hca_a");
  auto b = open("hca_b");
  ASSERT_TRUE(a && b);
  const auto own = (*a)->createDomain();
  const auto other = (*b)->createDomain();
  ASSERT_TRUE(own && other);
  std::vector<std::uint8_t> here(4096);
  std::vector<std::uint8_t> there(4096, 5);
  auto local = (*own)->registerMemory(here, Access::kNone);
  auto remote = (*other)->registerMemory(there, Access::kRead);
  RcOptions options;
  options.access = Access::kRead;
  auto reader = (*own)->createRc({});
  auto answerer = (*other)->createRc(options);
  ASSERT_TRUE(local && remote && reader && answerer);
  EXPECT_EQ((*reader)->address().lid, 11);
  ASSERT_TRUE((*reader)->connect((*answerer)->address()));
  ASSERT_TRUE((*answerer)->connect((*reader)->address()));
  const LocalPiece piece{local->get(), here};
  RcRequest read;
  read.local = {&piece, 1};
  read.remote_address = (*remote)->address();
  read.rkey = (*remote)->rkey();
  ASSERT_EQ((*reader)->post(read), PostResult::kPosted);
  (*reader)->flush();
  RcEvents events;
  ASSERT_TRUE(test::eventually([&] { return !events.done.empty(); },
                               [&] { return (*reader)->poll(events); }));
  ASSERT_EQ(events.done.size(), 1U);
  EXPECT_EQ(events.done[0].status, RcStatus::kOk);
  EXPECT_EQ(here, there);
}

// FakeVerbsTest counts what is left.
TEST_F(RcEndpointTest, ManyConnectionsLeaveNothingBehind) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  for (int i = 0; i < 200; ++i) {
    a.endpoint = std::move(a.domain->createRc(RcSide::everything()).value());
    b.endpoint = std::move(b.domain->createRc(RcSide::everything()).value());
    connect(a, b);
    const RcRequest read = a.request(RcOperation::kRead, b, 100);
    ASSERT_EQ(a.post(read), PostResult::kPosted);
    if (i % 2 == 0) continue;  // closed while it is under way
    ASSERT_EQ(a.endOf(read.id), RcStatus::kOk);
  }
}

}  // namespace
}  // namespace pingloom::rdma::verbs::rc_endpoint_test
