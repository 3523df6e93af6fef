// Requester and responder against each other, over a network that behaves badly in virtual time.
#include "rdma/soft/rc/requester.h"

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>

#include "rc_pair.h"

namespace pingloom::rdma::soft::requester_test {
namespace {

RequesterOptions asks(std::uint32_t mtu) {
  RequesterOptions made;
  made.mtu = mtu;
  made.first_psn = 0xFFFFF0;  // wraps soon
  made.timeout = 20 * kMillisecond;
  return made;
}
ResponderOptions answers(std::uint32_t mtu) {
  ResponderOptions made;
  made.access = kEverything;
  made.mtu = mtu;
  made.first_psn = 0xFFFFF0;
  made.immediates = 64;
  return made;
}

struct Case {
  const char* name;
  Weather weather;
  std::uint32_t mtu;
};
std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.name << " MTU " << one.mtu;
}

class RcTransfer : public testing::TestWithParam<Case> {
 protected:
  RcPair pair{asks(GetParam().mtu), answers(GetParam().mtu), GetParam().weather};
};

constexpr std::array<std::size_t, 7> kSizes = {0, 1, 13, 4'000, 4'096, 65'536, 1 << 20};

TEST_P(RcTransfer, ReadsAreByteExact) {
  for (const std::size_t size : kSizes) {
    const std::size_t offset = size % 5 + 3;
    ASSERT_TRUE(pair.post(RcOperation::kRead, offset, size));
    pair.run();
    ASSERT_TRUE(pair.allOk(1)) << size;
    EXPECT_TRUE(pair.same(offset, size)) << size;
  }
}

TEST_P(RcTransfer, WritesAreByteExact) {
  for (const std::size_t size : kSizes) {
    const std::size_t offset = size % 5 + 3;
    ASSERT_TRUE(pair.post(RcOperation::kWrite, offset, size));
    pair.run();
    ASSERT_TRUE(pair.allOk(1)) << size;
    EXPECT_TRUE(pair.same(offset, size)) << size;
  }
}

TEST_P(RcTransfer, AddsHappenOnceEach) {
  auto* counter = reinterpret_cast<std::uint64_t*>(pair.remote.memory().data());
  *counter = 1000;
  for (std::uint64_t i = 0; i < 100; ++i) {
    auto add = pair.request(RcOperation::kFetchAdd, 8 * i, 8, i);
    add.remote_address = pair.remote.key.address;
    add.add_or_swap = i;
    ASSERT_TRUE(pair.requester.post(add));
  }
  pair.run();
  ASSERT_TRUE(pair.allOk(100));
  EXPECT_EQ(*counter, 1000 + 99 * 100 / 2U);
  const auto* before = reinterpret_cast<const std::uint64_t*>(pair.local.memory().data());
  for (std::uint64_t i = 1; i < 100; ++i) EXPECT_EQ(before[i], before[i - 1] + i - 1);
}

TEST_P(RcTransfer, AMixKeepsItsOrder) {
  std::vector<std::uint64_t> expected;
  for (std::uint64_t i = 0; i < 60; ++i) {
    const std::size_t at = 20'000 * i;
    if (i % 3 == 0) {
      ASSERT_TRUE(pair.post(RcOperation::kRead, at, 9'000, i));
    }
    if (i % 3 == 1) {
      ASSERT_TRUE(pair.post(RcOperation::kWriteImmediate, at, 700 * i, i));
    }
    if (i % 3 == 2) {
      ASSERT_TRUE(pair.post(RcOperation::kFetchAdd, at, 8, i));
    }
    expected.push_back(i);
  }
  pair.run();
  std::vector<std::uint64_t> done;
  for (const RcDone& one : pair.takeDone()) {
    EXPECT_EQ(one.status, RcStatus::kOk);
    done.push_back(one.id);
  }
  EXPECT_EQ(done, expected);
  EXPECT_EQ(pair.responder.arrived().size(), 20U);
  for (std::size_t i = 0; i < 60; ++i) {
    if (i % 3 == 0) {
      EXPECT_TRUE(pair.same(20'000 * i, 9'000)) << i;
    }
    if (i % 3 == 1) {
      EXPECT_TRUE(pair.same(20'000 * i, 700 * i)) << i;
    }
  }
}

constexpr Weather kLossy1{.loss = 0.01};
constexpr Weather kLossy10{.loss = 0.1};
constexpr Weather kDoubling{.duplicate = 0.3};
constexpr Weather kShuffling{.delay = kMillisecond, .jitter = 300 * kMicrosecond};
constexpr Weather kStorm{
    .loss = 0.1, .duplicate = 0.1, .delay = kMillisecond, .jitter = 300 * kMicrosecond};
INSTANTIATE_TEST_SUITE_P(
    All, RcTransfer,
    testing::Values(Case{"Calm", {}, 256}, Case{"Calm", {}, 1024}, Case{"Calm", {}, 4096},
                    Case{"Loss1", kLossy1, 256}, Case{"Loss1", kLossy1, 1024},
                    Case{"Loss1", kLossy1, 4096}, Case{"Loss10", kLossy10, 256},
                    Case{"Loss10", kLossy10, 1024}, Case{"Loss10", kLossy10, 4096},
                    Case{"Doubling", kDoubling, 1024}, Case{"Shuffling", kShuffling, 1024},
                    Case{"Storm", kStorm, 256}, Case{"Storm", kStorm, 1024},
                    Case{"Storm", kStorm, 4096}),
    [](const auto& one) { return one.param.name + std::to_string(one.param.mtu); });

class RequesterTest : public testing::Test {
 protected:
  Packet nextPacket(Requester& requester, Nanos now = kSecond) {
    Packet packet;
    EXPECT_TRUE(requester.next(packet, now));
    return packet;
  }
  static Packet response(Opcode opcode, std::uint32_t psn, std::uint8_t syndrome) {
    Packet made;
    made.bth.opcode = opcode;
    made.bth.psn = psn;
    made.aeth.syndrome = syndrome;
    return made;
  }
};

TEST_F(RequesterTest, NothingIsSentTwiceInFairWeather) {
  RcPair pair(asks(1024), answers(1024));
  for (std::uint64_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(
        pair.post(i % 2 == 0 ? RcOperation::kRead : RcOperation::kWrite, 30'000 * i, 30'000, i));
  }
  pair.run();
  EXPECT_TRUE(pair.allOk(100));
  EXPECT_EQ(pair.requester.sentAgain(), 0U);
  EXPECT_EQ(pair.answering_drops.of(RcDrop::kDuplicate), 0U);
  EXPECT_EQ(pair.requester.nextWake(), INT64_MAX);
}

TEST_F(RequesterTest, NoMoreIsUnderWayThanTheWindow) {
  auto options = asks(1024);
  options.window = 16;
  RcPair pair(options, answers(1024));
  ASSERT_TRUE(pair.post(RcOperation::kRead, 0, 1 << 20));
  pair.run();
  EXPECT_TRUE(pair.allOk(1));
  EXPECT_TRUE(pair.same(0, 1 << 20));
  EXPECT_LE(pair.most_under_way, 16U + 4U);  // and the requests themselves
}

TEST_F(RequesterTest, TakesNoMoreThanItsDepth) {
  auto options = asks(1024);
  options.depth = 4;
  RcPair pair(options, answers(1024));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(pair.post(RcOperation::kRead, 0, 8));
  EXPECT_FALSE(pair.post(RcOperation::kRead, 0, 8));
  pair.run();
  EXPECT_FALSE(pair.post(RcOperation::kRead, 0, 8)) << "what is done has not been taken";
  EXPECT_TRUE(pair.allOk(4));
  EXPECT_TRUE(pair.post(RcOperation::kRead, 0, 8));
}

TEST_F(RequesterTest, NoMoreReadsThanThePeerAnswers) {
  auto options = asks(1024);
  options.reads = 3;
  RcDropCounters drops;
  Requester requester(options, drops);
  RcPair pair;
  for (int i = 0; i < 5; ++i) requester.post(pair.request(RcOperation::kRead, 0, 8));
  Packet packet;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(requester.next(packet, kSecond));
  EXPECT_FALSE(requester.next(packet, kSecond));
  const std::vector<std::uint8_t> payload(8);
  Packet answer = response(Opcode::kRcReadResponseOnly, options.first_psn, kAckWithoutCredits);
  answer.payload = payload;
  requester.receive(answer, kSecond);
  EXPECT_TRUE(requester.next(packet, kSecond));
  EXPECT_FALSE(requester.next(packet, kSecond));
}

TEST_F(RequesterTest, UnsignalledRequestsAreSilentUnlessTheyFail) {
  RcPair pair(asks(1024), answers(1024));
  auto silent = pair.request(RcOperation::kRead, 0, 8, 1);
  silent.signalled = false;
  ASSERT_TRUE(pair.requester.post(silent));
  ASSERT_TRUE(pair.post(RcOperation::kRead, 0, 8, 2));
  pair.run();
  auto done = pair.takeDone();
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].id, 2U);
  silent = pair.request(RcOperation::kRead, 0, 8, 3);
  silent.signalled = false;
  silent.rkey ^= 1;
  ASSERT_TRUE(pair.requester.post(silent));
  pair.run();
  done = pair.takeDone();
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].id, 3U);
  EXPECT_EQ(done[0].status, RcStatus::kRemoteAccess);
}

TEST_F(RequesterTest, ScattersAndGathers) {
  for (const auto operation : {RcOperation::kRead, RcOperation::kWrite}) {
    RcPair pair(asks(256), answers(256));
    const auto memory = pair.local.memory();
    const std::vector<LocalPiece> pieces = {{&pair.local, memory.subspan(5'000, 1)},
                                            {&pair.local, memory.subspan(100, 700)},
                                            {nullptr, {}},
                                            {&pair.local, memory.subspan(9'001, 333)}};
    auto request = pair.request(operation, 0, 0);
    request.local = pieces;
    ASSERT_TRUE(pair.requester.post(request));
    pair.run();
    ASSERT_TRUE(pair.allOk(1));
    std::size_t at = 0;
    for (const LocalPiece& piece : pieces) {
      EXPECT_TRUE(std::equal(piece.memory.begin(), piece.memory.end(),
                             pair.remote.memory().begin() + static_cast<std::ptrdiff_t>(at)));
      at += piece.memory.size();
    }
  }
}

TEST_F(RequesterTest, LocalFaultsFailInTheirTurn) {
  RcPair pair(asks(1024), answers(1024));
  TestRegion other(8, 0);
  const std::vector<LocalPiece> outside = {{&pair.local, other.memory()}};
  auto wrong = pair.request(RcOperation::kRead, 0, 8, 2);
  wrong.local = outside;
  ASSERT_TRUE(pair.post(RcOperation::kRead, 0, 5'000, 1));
  ASSERT_TRUE(pair.requester.post(wrong));
  ASSERT_TRUE(pair.post(RcOperation::kRead, 0, 8, 3));
  pair.run();
  const auto done = pair.takeDone();
  ASSERT_EQ(done.size(), 3U);
  EXPECT_EQ(done[0].status, RcStatus::kOk);
  EXPECT_EQ(done[1].status, RcStatus::kLocal);
  EXPECT_EQ(done[2].status, RcStatus::kFlushed);
  EXPECT_TRUE(pair.requester.failed());
  EXPECT_FALSE(pair.post(RcOperation::kRead, 0, 8));
}

TEST_F(RequesterTest, AtomicsNeedEightAlignedBytes) {
  for (const auto& [offset, length] : {std::pair(4, 8), std::pair(0, 4), std::pair(0, 16)}) {
    RcPair pair(asks(1024), answers(1024));
    ASSERT_TRUE(pair.post(RcOperation::kFetchAdd, static_cast<std::size_t>(offset),
                          static_cast<std::size_t>(length)));
    pair.run();
    const auto done = pair.takeDone();
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done[0].status, RcStatus::kLocal);
  }
}

TEST_F(RequesterTest, ASilentPeerCostsEveryRetryAndThenTheEndpoint) {
  auto options = asks(1024);
  options.retries = 3;
  RcPair pair(options, answers(1024));
  int requests = 0;
  pair.watch = [&](const Packet&, bool) { return ++requests < 0; };
  ASSERT_TRUE(pair.post(RcOperation::kRead, 0, 8, 1));
  ASSERT_TRUE(pair.post(RcOperation::kWrite, 0, 8, 2));
  const Nanos begin = pair.now;
  pair.run();
  const auto done = pair.takeDone();
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].status, RcStatus::kRetriesExceeded);
  EXPECT_EQ(done[1].status, RcStatus::kFlushed);
  EXPECT_EQ(requests, 8) << "two, and three times again";
  EXPECT_EQ(pair.now - begin, 4 * options.timeout);
}

TEST_F(RequesterTest, ALostResponseIsAskedForBeforeTheTimer) {
  RcPair pair(asks(1024), answers(1024));
  int responses = 0;
  pair.watch = [&](const Packet&, bool is_request) { return is_request || ++responses != 3; };
  ASSERT_TRUE(pair.post(RcOperation::kRead, 0, 40'000));
  const Nanos begin = pair.now;
  pair.run();
  EXPECT_TRUE(pair.allOk(1));
  EXPECT_TRUE(pair.same(0, 40'000));
  EXPECT_LT(pair.now - begin, 2 * kMillisecond);
  EXPECT_EQ(responses, 41) << "40 packets, and the lost one again";
}

// Kernel rxe remembers the last `reads` only and is silent about older ones.
TEST_F(RequesterTest, AnUnansweredREADHoldsBackNewOnes) {
  auto options = asks(1024);
  options.reads = 4;
  RcPair pair(options, answers(1024));
  std::set<std::uint32_t> asked;
  int lost = 0;
  pair.watch = [&](const Packet& packet, bool is_request) {
    if (is_request) asked.insert(packet.bth.psn);
    if (!is_request && packet.bth.psn == options.first_psn && lost < 5) {
      ++lost;
      EXPECT_LE(asked.size(), 4U);
      return false;
    }
    return true;
  };
  for (std::uint64_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(pair.post(i % 2 == 0 ? RcOperation::kRead : RcOperation::kFetchAdd, 8 * i, 8, i));
  }
  pair.run();
  EXPECT_TRUE(pair.allOk(20));
  EXPECT_EQ(lost, 5);
  EXPECT_EQ(asked.size(), 20U);
}

// Only the first gap of a chunk: kernel rxe does not go back behind what it was last asked for.
TEST_F(RequesterTest, TheFirstGapOfAChunkIsFilledFirst) {
  RcPair pair(asks(1024), answers(1024));
  const std::uint32_t first = asks(1024).first_psn;
  std::map<std::uint32_t, int> to_lose = {{3, 1}, {9, 3}};
  std::uint32_t asked_from = 0;
  pair.watch = [&](const Packet& packet, bool is_request) {
    const std::uint32_t ahead = (packet.bth.psn - first) & kMask24;
    if (is_request) {
      EXPECT_GE(ahead, asked_from);
      asked_from = ahead;
    }
    return is_request || to_lose[ahead]-- <= 0;
  };
  ASSERT_TRUE(pair.post(RcOperation::kRead, 0, 20 * 1024));
  pair.run();
  EXPECT_TRUE(pair.allOk(1));
  EXPECT_TRUE(pair.same(0, 20 * 1024));
  EXPECT_EQ(asked_from, 9U);
}

TEST_F(RequesterTest, SendsLittleTwiceWhereWRITEsAreLost) {
  RcPair pair(asks(256), answers(256), kLossy10);
  ASSERT_TRUE(pair.post(RcOperation::kWrite, 0, 1 << 20));
  pair.run();
  EXPECT_TRUE(pair.allOk(1));
  EXPECT_LT(pair.requester.sentAgain(), 4096U / 2) << "of 4096 packets";
}

TEST_F(RequesterTest, AShuffledWRITEDoesNotDrown) {
  RcPair pair(asks(256), answers(256), kShuffling);
  ASSERT_TRUE(pair.post(RcOperation::kWrite, 0, 1 << 20));
  pair.run();
  EXPECT_TRUE(pair.allOk(1));
  EXPECT_LT(pair.requester.sentAgain(), 4096U / 2) << "of 4096 packets";
}

// What it cost to transfer 2 MiB.
struct Cost {
  double bytes;  // on the wire in both directions, for each byte of the message
  Nanos time;
};
Cost costOf(RcOperation operation, std::uint32_t mtu, const Weather& weather) {
  constexpr std::size_t kBytes = 2 << 20;
  constexpr std::size_t kIpAndUdp = 28;
  RequesterOptions asking = asks(mtu);
  asking.timeout = 500 * kMillisecond;
  RcPair pair(asking, answers(mtu), weather);
  std::size_t bytes = 0;
  pair.watch = [&](const Packet& packet, bool) {
    bytes += wireBytes(packet) + kIpAndUdp;
    return true;
  };
  const Nanos begin = pair.now;
  EXPECT_TRUE(pair.post(operation, 0, kBytes));
  pair.run();
  EXPECT_TRUE(pair.allOk(1));
  EXPECT_TRUE(pair.same(0, kBytes));
  return {static_cast<double>(bytes) / kBytes, pair.now - begin};
}

// docs/soft-device.md has the figures.
TEST_F(RequesterTest, AWRITECostsAboutAsMuchAsAREADInBadWeather) {
  const auto compare = [](std::string_view what, std::uint32_t mtu, const Weather& weather) {
    const Cost read = costOf(RcOperation::kRead, mtu, weather);
    const Cost write = costOf(RcOperation::kWrite, mtu, weather);
    std::cout << what << ": READ " << read.bytes << " times the bytes, " << read.time / kMicrosecond
              << " us; WRITE " << write.bytes << " times, " << write.time / kMicrosecond << " us\n";
    EXPECT_LE(write.bytes, 2.5) << what;
    EXPECT_LE(write.time, 3 * read.time) << what;
  };
  compare("300 us of jitter", 1024, {.jitter = 300 * kMicrosecond});
  compare("10 % loss at MTU 256", 256, {.loss = 0.1});
}

TEST_F(RequesterTest, TheWindowMayChangeUnderWay) {
  for (const Weather& weather : {Weather{}, kStorm}) {
    auto options = asks(256);
    options.window = 20;
    RcPair pair(options, answers(256), weather);
    ASSERT_TRUE(pair.post(RcOperation::kRead, 1, (1 << 20) - 1, 1));
    ASSERT_TRUE(pair.post(RcOperation::kWrite, 1 << 20, 1 << 20, 2));
    ASSERT_TRUE(pair.post(RcOperation::kRead, 2 << 20, 1 << 20, 3));
    std::uint32_t packets = 0;
    pair.watch = [&](const Packet&, bool) {
      constexpr std::array<std::uint32_t, 5> kWindows = {20, 512, 3, 100'000, 1};
      if (++packets % 100 == 0) pair.requester.setWindow(kWindows[packets / 100 % 5]);
      return true;
    };
    pair.run();
    EXPECT_TRUE(pair.allOk(3));
    EXPECT_TRUE(pair.same(1, (3 << 20) - 1));
  }
}

TEST_F(RequesterTest, WaitsWhileThePeerIsNotReady) {
  auto answering = answers(1024);
  answering.immediates = 1;
  RcPair pair(asks(1024), answering);
  for (std::uint64_t i = 0; i < 3; ++i) {
    auto one = pair.request(RcOperation::kWriteImmediate, 3'000 * i, 3'000, i);
    one.immediate = static_cast<std::uint32_t>(100 + i);
    ASSERT_TRUE(pair.requester.post(one));
  }
  const Nanos begin = pair.now;
  pair.run(begin + 5 * kMillisecond);
  EXPECT_EQ(pair.takeDone().size(), 1U);
  EXPECT_GE(pair.answering_drops.of(RcDrop::kNotReady), 2U);
  std::vector<RcArrived> arrived;
  for (int i = 2; i <= 4; ++i) {
    arrived.insert(arrived.end(), pair.responder.arrived().begin(), pair.responder.arrived().end());
    pair.responder.arrived().clear();
    pair.run(begin + 5 * i * kMillisecond);
  }
  EXPECT_TRUE(pair.allOk(2));
  ASSERT_EQ(arrived.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(arrived[i].immediate, 100 + i);
    EXPECT_EQ(arrived[i].bytes, 3'000U);
  }
}

TEST_F(RequesterTest, APeerThatIsNeverReadyIsGivenUp) {
  auto options = asks(1024);
  options.not_ready_retries = 2;
  auto answering = answers(1024);
  answering.immediates = 0;
  RcPair pair(options, answering);
  ASSERT_TRUE(pair.post(RcOperation::kWriteImmediate, 0, 8));
  pair.run();
  const auto done = pair.takeDone();
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].status, RcStatus::kRnrExceeded);
  EXPECT_EQ(pair.answering_drops.of(RcDrop::kNotReady), 3U);
}

TEST_F(RequesterTest, ResponsesThatNobodyAskedForDoNothing) {
  RcPair pair;
  RcDropCounters drops;
  Requester requester(asks(1024), drops);
  const std::uint32_t psn = asks(1024).first_psn;
  const std::vector<std::uint8_t> payload(8, 0xAB);
  Packet answer = response(Opcode::kRcReadResponseOnly, psn, kAckWithoutCredits);
  answer.payload = payload;
  requester.receive(answer, kSecond);
  EXPECT_EQ(drops.of(RcDrop::kStray), 1U) << "nothing was posted";
  pair.post(RcOperation::kRead, 0, 8);
  const auto before = pair.local.memory()[0];
  requester.post(pair.request(RcOperation::kRead, 0, 8, 1));
  requester.receive(answer, kSecond);
  EXPECT_EQ(drops.of(RcDrop::kStray), 2U) << "not yet sent";
  requester.post(pair.request(RcOperation::kWrite, 0, 8, 2));
  nextPacket(requester);
  nextPacket(requester);
  requester.receive(response(Opcode::kRcAcknowledge, psn + 2, kAckWithoutCredits), kSecond);
  requester.receive(response(Opcode::kRcAcknowledge, psn - 1, kAckWithoutCredits), kSecond);
  requester.receive(response(Opcode::kRcAtomicAcknowledge, psn, kAckWithoutCredits), kSecond);
  answer.bth.psn = (psn + 1) & kMask24;
  requester.receive(answer, kSecond);  // a READ response to a WRITE
  answer.bth.psn = psn;
  answer.payload = std::span(payload).first(7);
  requester.receive(answer, kSecond);
  answer.payload = payload;
  answer.aeth.syndrome = kNakRemoteAccess;
  requester.receive(answer, kSecond);
  requester.receive(response(Opcode::kRcAcknowledge, psn, 0x40), kSecond);
  requester.receive(response(Opcode::kRcAcknowledge, psn, 0x7F), kSecond);
  EXPECT_EQ(pair.local.memory()[0], before);
  EXPECT_FALSE(requester.hasDone());
  EXPECT_FALSE(requester.failed());
  EXPECT_EQ(drops.of(RcDrop::kStray), 5U);
  EXPECT_EQ(drops.of(RcDrop::kDuplicate), 1U);
  EXPECT_EQ(drops.of(RcDrop::kResponse), 4U);
  answer.aeth.syndrome = kAckWithoutCredits;
  requester.receive(answer, kSecond);
  EXPECT_EQ(pair.local.memory()[0], 0xAB);
  EXPECT_EQ(requester.done().size(), 1U);
}

TEST_F(RequesterTest, AnAcknowledgeDoesNotStandForAReadsData) {
  RcPair pair;
  RcDropCounters drops;
  Requester requester(asks(1024), drops);
  const std::uint32_t psn = asks(1024).first_psn;
  requester.post(pair.request(RcOperation::kRead, 0, 8, 1));
  requester.post(pair.request(RcOperation::kWrite, 0, 8, 2));
  nextPacket(requester);
  nextPacket(requester);
  requester.receive(response(Opcode::kRcAcknowledge, psn + 1, kAckWithoutCredits), kSecond);
  EXPECT_FALSE(requester.hasDone());
  requester.elapse(requester.nextWake());
  EXPECT_EQ(nextPacket(requester).bth.opcode, Opcode::kRcReadRequest) << "asked again";
}

TEST_F(RequesterTest, RefusalsEndEverythingInOrder) {
  const std::vector<std::pair<std::uint8_t, RcStatus>> refusals = {
      {kNakInvalidRequest, RcStatus::kRemoteInvalid},
      {kNakRemoteAccess, RcStatus::kRemoteAccess},
      {kNakRemoteOperation, RcStatus::kRemoteOperation}};
  for (const auto& [syndrome, status] : refusals) {
    RcPair pair;
    RcDropCounters drops;
    Requester requester(asks(1024), drops);
    for (std::uint64_t i = 0; i < 4; ++i) {
      requester.post(pair.request(RcOperation::kWrite, 0, 8, i));
      if (i < 3) nextPacket(requester);
    }
    requester.receive(response(Opcode::kRcAcknowledge, asks(1024).first_psn + 1, syndrome),
                      kSecond);
    const auto& done = requester.done();
    ASSERT_EQ(done.size(), 4U);
    EXPECT_EQ(done[0].status, RcStatus::kOk);
    EXPECT_EQ(done[1].status, status);
    EXPECT_EQ(done[2].status, RcStatus::kFlushed);
    EXPECT_EQ(done[3].status, RcStatus::kFlushed);
    EXPECT_TRUE(requester.failed());
    EXPECT_EQ(requester.nextWake(), INT64_MAX);
  }
}

}  // namespace
}  // namespace pingloom::rdma::soft::requester_test
