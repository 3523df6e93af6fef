// What a responder does with requests that no honest requester sends, packet by packet.
#include "rdma/soft/rc/responder.h"

#include <gtest/gtest.h>

#include <random>

#include "rc_pair.h"

namespace pingloom::rdma::soft::responder_test {
namespace {

constexpr std::uint32_t kMtu = 256;
constexpr std::uint32_t kPsn = 0xFFFFFE;
constexpr std::size_t kGuard = 4096;
constexpr std::size_t kBytes = 2000;

class ResponderTest : public testing::Test {
 protected:
  ResponderTest() : memory(kGuard + kBytes + kGuard, 0xC5) {
    for (std::size_t i = 0; i < kBytes; ++i) memory[kGuard + i] = static_cast<std::uint8_t>(i * 7);
    key = *table.add(region(), kEverything);
    start();
  }
  ~ResponderTest() override {
    for (std::size_t i = 0; i < kGuard; ++i) {
      if (memory[i] != 0xC5 || memory[kGuard + kBytes + i] != 0xC5) {
        ADD_FAILURE() << "memory outside the region was written";
        return;
      }
    }
  }
  std::span<std::uint8_t> region() { return std::span(memory).subspan(kGuard, kBytes); }
  void start(Access access = kEverything, std::uint32_t immediates = 4) {
    ResponderOptions options;
    options.access = access;
    options.mtu = kMtu;
    options.reads = 4;
    options.first_psn = kPsn;
    options.immediates = immediates;
    responder.emplace(options, table, drops);
  }
  // `ahead`: of the first PSN.
  static Packet of(Opcode opcode, std::uint32_t ahead) {
    Packet made;
    made.bth.opcode = opcode;
    made.bth.psn = (kPsn + ahead) & kMask24;
    made.bth.ack_request = true;
    return made;
  }
  Packet read(std::uint32_t ahead, std::uint64_t offset, std::uint32_t length) const {
    Packet made = of(Opcode::kRcReadRequest, ahead);
    made.reth = {key.address + offset, key.rkey, length};
    return made;
  }
  Packet write(Opcode opcode, std::uint32_t ahead, std::uint64_t offset, std::uint32_t length,
               std::size_t payload) {
    Packet made = of(opcode, ahead);
    made.reth = {key.address + offset, key.rkey, length};
    made.payload = std::span(data).first(payload);
    return made;
  }
  Packet add(std::uint32_t ahead, std::uint64_t offset, std::uint64_t value) const {
    Packet made = of(Opcode::kRcFetchAdd, ahead);
    made.atomic = {key.address + offset, key.rkey, value, 0};
    return made;
  }
  struct Answer {
    Opcode opcode;
    std::uint32_t ahead;
    std::uint8_t syndrome;
    std::vector<std::uint8_t> payload;
    std::uint64_t original;
  };
  std::vector<Answer> answers() {
    std::vector<Answer> all;
    Packet out;
    while (responder->next(out)) {
      all.push_back({out.bth.opcode,
                     (out.bth.psn - kPsn) & kMask24,
                     out.aeth.syndrome,
                     {out.payload.begin(), out.payload.end()},
                     out.atomic_original});
    }
    return all;
  }
  std::vector<Opcode> opcodes() {
    std::vector<Opcode> all;
    for (const Answer& answer : answers()) all.push_back(answer.opcode);
    return all;
  }
  // The one answer to `packet` is this NAK, for the first PSN, and nothing has changed.
  void expectRefused(const Packet& packet, std::uint8_t syndrome, RcDrop reason) {
    const auto before = memory;
    const auto counted = drops.of(reason);
    responder->receive(packet);
    const auto got = answers();
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].opcode, Opcode::kRcAcknowledge);
    EXPECT_EQ(got[0].syndrome, syndrome);
    EXPECT_EQ(got[0].ahead, (packet.bth.psn - kPsn) & kMask24);
    EXPECT_EQ(drops.of(reason), counted + 1);
    EXPECT_TRUE(responder->failed());
    EXPECT_EQ(memory, before);
    start();
  }

  std::vector<std::uint8_t> memory;
  std::vector<std::uint8_t> data = std::vector<std::uint8_t>(4096, 0x11);
  MemoryTable table;
  RegionKey key;
  RcDropCounters drops;
  std::optional<Responder> responder;
};

TEST_F(ResponderTest, SegmentsAREAD) {
  responder->receive(read(0, 10, 3 * kMtu + 5));
  const auto got = answers();
  ASSERT_EQ(got.size(), 4U);
  EXPECT_EQ(got[0].opcode, Opcode::kRcReadResponseFirst);
  EXPECT_EQ(got[1].opcode, Opcode::kRcReadResponseMiddle);
  EXPECT_EQ(got[3].opcode, Opcode::kRcReadResponseLast);
  EXPECT_EQ(got[3].payload.size(), 5U);
  EXPECT_EQ(got[3].ahead, 3U);
  EXPECT_EQ(got[0].syndrome, kAckWithoutCredits);
  responder->receive(read(4, 0, 0));
  responder->receive(read(5, 0, kMtu));
  EXPECT_EQ(opcodes(), std::vector(2, Opcode::kRcReadResponseOnly));
}

TEST_F(ResponderTest, AnswersAgainFromWhereThePeerIs) {
  responder->receive(read(0, 0, 4 * kMtu));
  answers();
  responder->receive(read(0, 0, 4 * kMtu));
  EXPECT_EQ(opcodes(), (std::vector{Opcode::kRcReadResponseFirst, Opcode::kRcReadResponseMiddle,
                                    Opcode::kRcReadResponseMiddle, Opcode::kRcReadResponseLast}));
  responder->receive(read(2, 2 * kMtu, 2 * kMtu));
  const auto got = answers();
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].opcode, Opcode::kRcReadResponseMiddle) << "never a First within a message";
  EXPECT_EQ(got[0].ahead, 2U);
  EXPECT_EQ(got[1].opcode, Opcode::kRcReadResponseLast);
  EXPECT_TRUE(std::equal(got[0].payload.begin(), got[0].payload.end(), &memory[kGuard + 2 * kMtu]));
}

TEST_F(ResponderTest, ARepeatedREADThatIsStillBeingAnsweredGoesBack) {
  responder->receive(read(0, 0, 4 * kMtu));
  Packet out;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(responder->next(out));
  responder->receive(read(3, 3 * kMtu, kMtu));  // about to come anyway
  responder->receive(read(1, kMtu, 3 * kMtu));
  const auto got = answers();
  ASSERT_EQ(got.size(), 3U);
  EXPECT_EQ(got[0].ahead, 1U);
}

TEST_F(ResponderTest, APieceThatHasGoneIsAnsweredByItself) {
  responder->receive(read(0, 0, 6 * kMtu));
  Packet out;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(responder->next(out));
  responder->receive(read(1, kMtu, 2 * kMtu));
  const auto got = answers();
  std::vector<std::uint32_t> psns;
  psns.reserve(got.size());
  for (const Answer& answer : got) psns.push_back(answer.ahead);
  EXPECT_EQ(psns, (std::vector<std::uint32_t>{1, 2, 4, 5}));
  EXPECT_TRUE(std::equal(got[0].payload.begin(), got[0].payload.end(), &memory[kGuard + kMtu]));
}

TEST_F(ResponderTest, ARepetitionMustBePartOfWhatWasAsked) {
  responder->receive(read(0, 0, 2 * kMtu));
  responder->receive(add(2, 0, 1));
  answers();
  responder->receive(read(1, 0, 2 * kMtu));  // reaches beyond
  responder->receive(read(2, 0, 8));         // was an atomic
  responder->receive(add(1, 0, 1));          // was a READ
  responder->receive(read(0xFFFFF0, 0, 8));  // long ago
  EXPECT_TRUE(answers().empty());
  Packet elsewhere = read(0, 0, 8);
  elsewhere.reth.rkey ^= 1;
  responder->receive(elsewhere);
  const auto got = answers();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].syndrome, kNakRemoteAccess);
}

TEST_F(ResponderTest, AnAtomicHappensOnceHoweverOftenItComes) {
  auto* counter = reinterpret_cast<std::uint64_t*>(&memory[kGuard]);
  *counter = 40;
  responder->receive(add(0, 0, 2));
  for (int i = 0; i < 3; ++i) {
    const auto got = answers();
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].opcode, Opcode::kRcAtomicAcknowledge);
    EXPECT_EQ(got[0].original, 40U);
    responder->receive(add(0, 0, 2));
  }
  EXPECT_EQ(*counter, 42U);
}

TEST_F(ResponderTest, ComparesAndSwaps) {
  auto* word = reinterpret_cast<std::uint64_t*>(&memory[kGuard + 8]);
  *word = 5;
  Packet swap = of(Opcode::kRcCompareSwap, 0);
  swap.atomic = {key.address + 8, key.rkey, 9, 5};
  responder->receive(swap);
  EXPECT_EQ(*word, 9U);
  swap.bth.psn = (kPsn + 1) & kMask24;
  responder->receive(swap);
  EXPECT_EQ(*word, 9U);
  const auto got = answers();
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].original, 5U);
  EXPECT_EQ(got[1].original, 9U);
}

TEST_F(ResponderTest, AGapIsToldOncePerRound) {
  responder->receive(write(Opcode::kRcWriteOnly, 0, 0, 8, 8));
  answers();
  for (std::uint32_t psn = 2; psn < 6; ++psn) {
    responder->receive(write(Opcode::kRcWriteOnly, psn, 100, 8, 8));
  }
  auto got = answers();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].syndrome, kNakSequence);
  EXPECT_EQ(got[0].ahead, 1U);
  EXPECT_EQ(drops.of(RcDrop::kSequence), 4U);
  responder->receive(write(Opcode::kRcWriteOnly, 6, 100, 8, 8));
  EXPECT_TRUE(answers().empty());
  responder->receive(write(Opcode::kRcWriteOnly, 2, 100, 8, 8));
  EXPECT_EQ(answers().size(), 1U) << "a new round, and the gap is still there";
  EXPECT_EQ(memory[kGuard + 100], static_cast<std::uint8_t>(100 * 7)) << "not carried out";
  responder->receive(write(Opcode::kRcWriteOnly, 1, 0, 8, 8));
  got = answers();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].syndrome, kAckWithoutCredits);
  EXPECT_FALSE(responder->failed());
}

TEST_F(ResponderTest, WRITEsOutOfOrderAreCarriedOutInOrder) {
  responder->receive(write(Opcode::kRcWriteLast, 2, 0, 0, 44));
  responder->receive(write(Opcode::kRcWriteOnly, 3, 4, 8, 8));
  responder->receive(write(Opcode::kRcWriteMiddle, 1, 0, 0, kMtu));
  EXPECT_EQ(answers().size(), 1U) << "the gap, once";
  EXPECT_EQ(memory[kGuard], 0) << "nothing before its turn";
  responder->receive(write(Opcode::kRcWriteFirst, 0, 0, 2 * kMtu + 44, kMtu));
  const auto got = answers();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].syndrome, kAckWithoutCredits);
  EXPECT_EQ(got[0].ahead, 3U);
  EXPECT_EQ(memory[kGuard + 2 * kMtu + 43], 0x11);
}

TEST_F(ResponderTest, TheNextGapIsToldWhenOneIsFilled) {
  for (const std::uint32_t psn : {1, 3}) {
    responder->receive(write(Opcode::kRcWriteOnly, psn, 8, 8, 8));
  }
  EXPECT_EQ(answers().size(), 1U);
  responder->receive(write(Opcode::kRcWriteOnly, 0, 0, 8, 8));
  auto got = answers();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].syndrome, kNakSequence);
  EXPECT_EQ(got[0].ahead, 2U);
  Packet asking = write(Opcode::kRcWriteOnly, 0, 0, 8, 8);
  asking.bth.ack_request = true;
  responder->receive(asking);
  got = answers();
  ASSERT_EQ(got.size(), 1U) << "the report may have been lost";
  EXPECT_EQ(got[0].syndrome, kNakSequence);
}

// Without a receive it is as on a NIC.
TEST_F(ResponderTest, ASENDFindsNoReceive) {
  Packet send = of(Opcode::kRcSendOnly, 0);
  send.payload = std::span(data).first(8);
  responder->receive(send);
  const auto got = answers();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].opcode, Opcode::kRcAcknowledge);
  EXPECT_EQ(got[0].syndrome, kReceiverNotReady);
  EXPECT_EQ(got[0].ahead, 0U);
  EXPECT_FALSE(responder->failed());
  responder->receive(write(Opcode::kRcWriteOnly, 0, 0, 8, 8));
  EXPECT_EQ(answers().size(), 1U) << "something else may follow";
  expectRefused(of(Opcode::kRcSendLast, 1), kNakInvalidRequest, RcDrop::kInvalidRequest);
}

TEST_F(ResponderTest, ARepeatedWRITEIsAcknowledgedAndNotCarriedOut) {
  responder->receive(write(Opcode::kRcWriteOnly, 0, 0, 8, 8));
  responder->receive(write(Opcode::kRcWriteOnly, 1, 8, 8, 8));
  auto got = answers();
  ASSERT_EQ(got.size(), 1U) << "one for both";
  EXPECT_EQ(got[0].ahead, 1U);
  memory[kGuard] = 0x77;
  responder->receive(write(Opcode::kRcWriteOnly, 0, 0, 8, 8));
  got = answers();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].ahead, 1U);
  EXPECT_EQ(memory[kGuard], 0x77);
}

TEST_F(ResponderTest, RefusesWhatLiesOutside) {
  expectRefused(read(0, kBytes, 1), kNakRemoteAccess, RcDrop::kBounds);
  expectRefused(read(0, kBytes - 1, 2), kNakRemoteAccess, RcDrop::kBounds);
  expectRefused(read(0, -std::uint64_t{1}, 2), kNakRemoteAccess, RcDrop::kBounds);
  expectRefused(read(0, 0, kBytes + 1), kNakRemoteAccess, RcDrop::kBounds);
  expectRefused(read(0, 0, 1U << 31), kNakRemoteAccess, RcDrop::kBounds);
  expectRefused(write(Opcode::kRcWriteOnly, 0, kBytes - 7, 8, 8), kNakRemoteAccess,
                RcDrop::kBounds);
  expectRefused(write(Opcode::kRcWriteFirst, 0, kBytes - 300, 301, kMtu), kNakRemoteAccess,
                RcDrop::kBounds);
  const std::uint64_t last_word = (kBytes - 4) & ~std::uint64_t{7};
  expectRefused(add(0, last_word + 8, 1), kNakRemoteAccess, RcDrop::kBounds);
  Packet wrong = read(0, 0, 8);
  wrong.reth.rkey ^= 0x100;
  expectRefused(wrong, kNakRemoteAccess, RcDrop::kRkey);
}

TEST_F(ResponderTest, RefusesWhatTheRegionDoesNotPermit) {
  table.remove(key.rkey);
  key = *table.add(region(), Access::kRead);
  expectRefused(write(Opcode::kRcWriteOnly, 0, 0, 8, 8), kNakRemoteAccess, RcDrop::kPermission);
  expectRefused(add(0, 0, 1), kNakRemoteAccess, RcDrop::kPermission);
  table.remove(key.rkey);
  key = *table.add(region(), Access::kWrite);
  expectRefused(read(0, 0, 8), kNakRemoteAccess, RcDrop::kPermission);
  table.remove(key.rkey);
  expectRefused(write(Opcode::kRcWriteOnly, 0, 0, 8, 8), kNakRemoteAccess, RcDrop::kRkey);
}

TEST_F(ResponderTest, RefusesWhatTheEndpointDoesNotPermit) {
  start(Access::kWrite | Access::kAtomic);
  expectRefused(read(0, 0, 8), kNakInvalidRequest, RcDrop::kInvalidRequest);
  start(Access::kRead | Access::kAtomic);
  expectRefused(write(Opcode::kRcWriteOnly, 0, 0, 8, 8), kNakInvalidRequest,
                RcDrop::kInvalidRequest);
  start(Access::kRead | Access::kWrite);
  expectRefused(add(0, 0, 1), kNakInvalidRequest, RcDrop::kInvalidRequest);
}

TEST_F(ResponderTest, RefusesWhatContradictsItself) {
  const auto refused = [this](const Packet& packet) {
    expectRefused(packet, kNakInvalidRequest, RcDrop::kInvalidRequest);
  };
  refused(add(0, 4, 1));                                  // not aligned
  refused(read(0, 0, (1U << 31) + 1));                    // too long
  refused(write(Opcode::kRcWriteMiddle, 0, 0, 0, kMtu));  // no beginning
  refused(write(Opcode::kRcWriteLast, 0, 0, 0, 8));
  refused(write(Opcode::kRcWriteOnly, 0, 0, 8, 9));  // lying lengths
  refused(write(Opcode::kRcWriteOnly, 0, 0, 8, 7));
  refused(write(Opcode::kRcWriteOnly, 0, 0, kMtu + 1, kMtu + 1));  // above the MTU
  refused(write(Opcode::kRcWriteOnly, 0, 0, 300, 8));
  refused(write(Opcode::kRcWriteFirst, 0, 0, kMtu, kMtu));  // would be an Only
  refused(write(Opcode::kRcWriteFirst, 0, 0, 600, kMtu + 4));
  refused(write(Opcode::kRcWriteFirst, 0, 0, 600, kMtu - 4));
}

TEST_F(ResponderTest, RefusesAWRITEThatGoesWrongOnTheWay) {
  const std::vector<Packet> wrong = {write(Opcode::kRcWriteMiddle, 1, 0, 0, kMtu + 4),
                                     write(Opcode::kRcWriteLast, 1, 0, 0, 43),
                                     write(Opcode::kRcWriteLast, 1, 0, 0, 45),
                                     write(Opcode::kRcWriteMiddle, 1, 0, 0, kMtu),
                                     write(Opcode::kRcWriteOnly, 1, 0, 8, 8),
                                     write(Opcode::kRcWriteFirst, 1, 0, 600, kMtu),
                                     read(1, 0, 8),
                                     add(1, 0, 1)};
  for (const Packet& packet : wrong) {
    responder->receive(write(Opcode::kRcWriteFirst, 0, 0, kMtu + 44, kMtu));
    answers();
    expectRefused(packet, kNakInvalidRequest, RcDrop::kInvalidRequest);
  }
}

TEST_F(ResponderTest, AnRkeyThatDiesEndsWhatIsUnderWay) {
  responder->receive(write(Opcode::kRcWriteFirst, 0, 0, kMtu + 8, kMtu));
  answers();
  table.remove(key.rkey);
  expectRefused(write(Opcode::kRcWriteLast, 1, 0, 0, 8), kNakRemoteAccess, RcDrop::kRkey);
  key = *table.add(region(), kEverything);
  start();
  responder->receive(read(0, 0, 3 * kMtu));
  responder->receive(read(3, 0, 8));
  Packet out;
  ASSERT_TRUE(responder->next(out));
  table.remove(key.rkey);
  const auto got = answers();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].syndrome, kNakRemoteAccess);
  EXPECT_EQ(got[0].ahead, 1U);
}

TEST_F(ResponderTest, WhatWasAskedBeforeARefusalIsAnswered) {
  responder->receive(read(0, 0, 2 * kMtu));
  responder->receive(read(2, kBytes, 1));
  EXPECT_EQ(opcodes(), (std::vector{Opcode::kRcReadResponseFirst, Opcode::kRcReadResponseLast,
                                    Opcode::kRcAcknowledge}));
  responder->receive(write(Opcode::kRcWriteOnly, 3, 0, 8, 8));
  EXPECT_TRUE(answers().empty()) << "mute";
  responder->receive(read(2, 0, 1));
  const auto got = answers();
  ASSERT_EQ(got.size(), 1U) << "but for the one that was refused";
  EXPECT_EQ(got[0].syndrome, kNakRemoteAccess);
}

TEST_F(ResponderTest, NoMoreREADsThanAgreed) {
  for (std::uint32_t i = 0; i < 4; ++i) responder->receive(read(i, 0, 8));
  EXPECT_FALSE(responder->failed());
  responder->receive(read(4, 0, 8));
  EXPECT_TRUE(responder->failed());
  const auto got = answers();
  ASSERT_EQ(got.size(), 5U);
  EXPECT_EQ(got[4].syndrome, kNakInvalidRequest);
}

TEST_F(ResponderTest, AFloodOfRepetitionsIsBounded) {
  for (std::uint32_t i = 0; i < 4; ++i) {
    responder->receive(read(i, 0, 8));
    answers();
  }
  for (int round = 0; round < 1000; ++round) {
    for (std::uint32_t i = 0; i < 4; ++i) responder->receive(read(i, 0, 8));
  }
  EXPECT_LE(answers().size(), 8U);
}

TEST_F(ResponderTest, AnImmediateWaitsForItsPlace) {
  start(kEverything, 1);
  Packet packet = write(Opcode::kRcWriteOnlyImmediate, 0, 0, 8, 8);
  packet.immediate = 0xABCD;
  responder->receive(packet);
  answers();
  memory[kGuard] = 0x77;
  packet.bth.psn = (kPsn + 1) & kMask24;
  responder->receive(packet);
  responder->receive(write(Opcode::kRcWriteOnly, 2, 0, 8, 8));
  const auto got = answers();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].syndrome, kReceiverNotReady);
  EXPECT_EQ(memory[kGuard], 0x77) << "not yet carried out";
  ASSERT_EQ(responder->arrived().size(), 1U);
  EXPECT_EQ(responder->arrived()[0].immediate, 0xABCDU);
  responder->arrived().clear();
  responder->receive(packet);
  EXPECT_EQ(responder->arrived().size(), 1U);
  EXPECT_EQ(memory[kGuard], 0x11);
}

// Anything at all, by the thousand: the guards around the region stay as they are (and under the
// address sanitizer nothing outside is read either).
TEST_F(ResponderTest, NoiseStaysInTheRegion) {
  std::mt19937 random(4791);
  const std::array opcodes_of_requests = {
      Opcode::kRcWriteFirst, Opcode::kRcWriteMiddle,        Opcode::kRcWriteLast,
      Opcode::kRcWriteOnly,  Opcode::kRcWriteOnlyImmediate, Opcode::kRcWriteLastImmediate,
      Opcode::kRcFetchAdd,   Opcode::kRcCompareSwap,        Opcode::kRcReadRequest};
  std::uint32_t ahead = 0;
  std::size_t answered = 0;
  for (int round = 0; round < 200'000; ++round) {
    Packet packet = of(opcodes_of_requests[random() % opcodes_of_requests.size()],
                       ahead + (random() % 8 == 0 ? random() % 16 - 8 : 0));
    const std::uint64_t offset =
        random() % 4 == 0 ? random() % (2 * kBytes) - kBytes / 2 : random() % kBytes;
    const std::uint32_t length = random() % 8 == 0 ? static_cast<std::uint32_t>(random())
                                                   : static_cast<std::uint32_t>(random() % 600);
    packet.reth = {key.address + offset, key.rkey, length};
    packet.atomic = {(key.address + offset) & ~std::uint64_t{7}, key.rkey, random(), random()};
    const std::size_t payload =
        random() % 2 == 0 ? std::min<std::size_t>(length, kMtu) : random() % (kMtu + 8);
    packet.payload = std::span(data).first(payload);
    responder->receive(packet);
    const auto got = answers();
    answered += got.size();
    if (!got.empty() && got.back().syndrome < 0x20) ahead = got.back().ahead + 1;
    if (responder->failed()) {
      start();
      ahead = 0;
    }
    responder->arrived().clear();
  }
  EXPECT_GT(answered, 10'000U);
}

}  // namespace
}  // namespace pingloom::rdma::soft::responder_test
