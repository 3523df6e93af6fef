// A connected peer that means harm: forged packets with a good iCRC, from a plain UDP socket.
// Around the region lie canaries, and around those pages that end the process when anything touches
// them. Beside it an honest peer is connected to the same device, and has to be served all the
// time.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <random>

#include "net/udp_socket.h"
#include "rdma/soft/icrc.h"
#include "rdma/soft/packet.h"
#include "rdma/soft/rc/syndrome.h"
#include "soft_rc_host.h"
#include "unit/eventually.h"

namespace pingloom::rdma::soft::soft_rc_hostile_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kRegionBytes = 3 * kPage;
constexpr std::uint32_t kMtu = 1024;
constexpr std::uint32_t kReads = 4;
constexpr std::uint32_t kTheirPsn = 0xFFFFF0;
constexpr std::uint8_t kCanary = 0xC5;

// A page that nobody may touch, canaries, the region, canaries, a page that nobody may touch.
class GuardedMemory {
 public:
  GuardedMemory()
      : base_(static_cast<std::uint8_t*>(
            mmap(nullptr, kAll, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(base_ + kPage, kAll - 2 * kPage, PROT_READ | PROT_WRITE);
    std::fill(base_ + kPage, base_ + kAll - kPage, kCanary);
    std::fill_n(region().data(), kRegionBytes, 0);
  }
  ~GuardedMemory() { munmap(base_, kAll); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::span<std::uint8_t> region() const { return {base_ + 2 * kPage, kRegionBytes}; }
  bool isWhole() const {
    const auto whole = [](std::uint8_t byte) { return byte == kCanary; };
    return std::all_of(base_ + kPage, base_ + 2 * kPage, whole) &&
           std::all_of(base_ + kAll - 2 * kPage, base_ + kAll - kPage, whole);
  }
  bool isUntouched() const {
    const auto bytes = region();
    return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
  }

 private:
  static constexpr std::size_t kAll = 4 * kPage + kRegionBytes;
  std::uint8_t* base_;
};

class SoftRcHostile : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(victim.endpoint && honest.endpoint);
    region = std::move(*victim.domain->registerMemory(memory.region(), kAll));
    net::UdpSocketOptions whole;
    whole.unfragmented = true;
    auto bound = net::UdpSocket::bind(freshLoopback(), kRoceUdpPort, whole);
    ASSERT_TRUE(bound);
    attacker = std::make_unique<net::UdpSocket>(std::move(*bound));
    other = std::move(*victim.domain->createRc(permitting(kAll, kMtu)));
    ASSERT_TRUE(other->connect(honest.endpoint->address()));
    ASSERT_TRUE(honest.endpoint->connect(other->address()));
    connect();
  }
  void TearDown() override {
    if (HasFatalFailure()) return;
    EXPECT_TRUE(memory.isWhole());
    expectHonestServed();
  }
  // The attacker's endpoint, made anew where the former one has failed.
  void connect(bool unproved = false) {
    RcOptions options = permitting(kAll, kMtu);
    options.unproved = unproved;
    options.reads = kReads;
    victim.endpoint = std::move(*victim.domain->createRc(options));
    RcAddress they;
    they.gid = Gid::of(attacker->address());
    they.qpn = 0x77;
    they.psn = kTheirPsn;
    they.mtu = kMtu;
    they.reads = kReads;
    ASSERT_TRUE(victim.endpoint->connect(they));
  }
  Packet request(Opcode opcode, std::uint32_t ahead, std::uint64_t offset, std::uint32_t length,
                 std::size_t payload = 0) const {
    Packet made;
    made.bth.opcode = opcode;
    made.bth.psn = (kTheirPsn + ahead) & kMask24;
    made.bth.destination_qpn = victim.endpoint->address().qpn;
    made.bth.ack_request = true;
    made.reth = {region->address() + offset, region->rkey(), length};
    made.atomic = {region->address() + offset, region->rkey(), 1, 0};
    made.payload = std::span(junk).first(payload);
    return made;
  }
  Bytes sealed(Bytes bytes, const net::UdpSocket& from) const {
    IcrcFlow(from.address(), kRoceUdpPort, victim.endpoint->address().gid.address(), kRoceUdpPort)
        .seal(bytes);
    return bytes;
  }
  void throwAt(const Bytes& bytes, const net::UdpSocket& from) const {
    sockaddr_storage to{};
    const socklen_t length = victim.endpoint->address().gid.address().toSockaddr(kRoceUdpPort, to);
    ASSERT_EQ(sendto(from.descriptor(), bytes.data(), bytes.size(), 0,
                     reinterpret_cast<const sockaddr*>(&to), length),
              static_cast<ssize_t>(bytes.size()));
  }
  void throwAt(const Packet& packet) const {
    Bytes bytes(wireBytes(packet));
    write(packet, bytes);
    throwAt(sealed(std::move(bytes), *attacker), *attacker);
  }
  // What the attacker gets for it.
  std::vector<Packet> answers() const {
    std::vector<Packet> all;
    Bytes bytes(kMaxPacketBytes);
    for (;;) {
      const auto got = recv(attacker->descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got < 0) return all;
      Packet packet;
      EXPECT_EQ(parse(std::span(bytes).first(static_cast<std::size_t>(got)), packet),
                PacketError::kNone);
      packet.payload = {};  // lies in `bytes`
      all.push_back(packet);
    }
  }
  std::uint64_t allDrops() const {
    std::uint64_t sum = 0;
    for (const DropCount& drop : victim.endpoint->drops()) sum += drop.count;
    return sum;
  }
  // Loopback delivers before sendto() returns, so nothing is under way any more afterwards.
  void settle() {
    for (int i = 0; i < 8; ++i) victim.poll();
  }
  // One packet; the endpoint fails, nothing is written, it is counted once, under `reason`.
  void expectRefused(const Packet& packet, std::uint8_t syndrome, std::string_view reason) {
    const std::uint64_t before = victim.drops(reason);
    throwAt(packet);
    settle();
    EXPECT_EQ(victim.endpoint->state(), RcState::kFailed) << reason;
    EXPECT_EQ(victim.drops(reason), before + 1) << reason;
    EXPECT_TRUE(memory.isUntouched()) << reason;
    const auto got = answers();
    ASSERT_EQ(got.size(), 1U) << reason;
    EXPECT_EQ(got[0].bth.opcode, Opcode::kRcAcknowledge);
    EXPECT_EQ(got[0].aeth.syndrome, syndrome) << reason;
    connect();
  }
  void expectHonestServed() {
    const std::array<LocalPiece, 1> pieces = {
        {{honest.region.get(), std::span(honest.memory).subspan(1, 50'000)}}};
    RcRequest read;
    read.local = pieces;
    read.remote_address = victim.region->address() + 1;
    read.rkey = victim.region->rkey();
    std::fill_n(honest.memory.begin() + 1, 50'000, 0);
    honest.done.clear();
    ASSERT_EQ(honest.endpoint->post(read), PostResult::kPosted);
    honest.endpoint->flush();
    RcEvents events;
    test::eventually([&] { return !honest.done.empty(); },
                     [&] {
                       victim.poll();
                       honest.poll();
                       return other->poll(events);
                     });
    ASSERT_EQ(honest.done.size(), 1U);
    EXPECT_EQ(honest.done[0].status, RcStatus::kOk);
    EXPECT_TRUE(std::equal(honest.memory.begin() + 1, honest.memory.begin() + 50'001,
                           victim.memory.begin() + 1));
  }

  RcHost victim{freshLoopback()};
  RcHost honest{freshLoopback(), permitting(kAll, kMtu)};
  GuardedMemory memory;
  std::unique_ptr<MemoryRegion> region;
  std::unique_ptr<RcEndpoint> other;  // the victim's, for the honest peer
  std::unique_ptr<net::UdpSocket> attacker;
  Bytes junk = Bytes(kMaxPayloadBytes, 0xAA);
};

// Spoofed requests must not direct more bytes at an address than the forger has spent.
TEST_F(SoftRcHostile, AnUnprovedPeerGetsAtMostThreeTimesWhatItSent) {
  constexpr std::size_t kIpv4AndUdp = 28;
  constexpr std::uint32_t kPackets = kRegionBytes / kMtu;
  connect(true);
  const Packet read = request(Opcode::kRcReadRequest, 0, 0, kRegionBytes);
  std::size_t spent = 0;
  std::size_t answered = 0;
  for (int i = 0; i < 20; ++i) {
    throwAt(read);
    spent += kIpv4AndUdp + wireBytes(read);
    settle();
    answered += answers().size();
    // Every response but the last of a message has one MTU.
    EXPECT_LE(answered * (kIpv4AndUdp + kMtu), 3 * spent) << i;
  }
  EXPECT_GT(answered, 0U);
  EXPECT_LT(answered, kPackets);
  victim.endpoint->peerProved();
  settle();
  EXPECT_GE(answered + answers().size(), kPackets);
}

TEST_F(SoftRcHostile, TruncatedHeaders) {
  for (const Opcode opcode : {Opcode::kRcReadRequest, Opcode::kRcFetchAdd, Opcode::kRcWriteFirst,
                              Opcode::kRcAtomicAcknowledge}) {
    Bytes bytes(wireBytes(request(opcode, 0, 0, 8)));
    write(request(opcode, 0, 0, 8), bytes);
    for (std::size_t size = kMinPacketBytes; size < bytes.size(); ++size) {
      const std::uint64_t before = victim.drops("short");
      throwAt(sealed({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}, *attacker),
              *attacker);
      settle();
      EXPECT_EQ(victim.drops("short"), before + 1) << size;
    }
  }
  EXPECT_EQ(victim.endpoint->state(), RcState::kConnected);
  EXPECT_TRUE(memory.isUntouched());
}

TEST_F(SoftRcHostile, LyingLengths) {
  const auto refused = [this](const Packet& packet) {
    expectRefused(packet, kNakInvalidRequest, "invalid_request");
  };
  refused(request(Opcode::kRcWriteOnly, 0, 0, 8, 9));
  refused(request(Opcode::kRcWriteOnly, 0, 0, 9, 8));
  refused(request(Opcode::kRcWriteOnly, 0, 0, 0, 8));
  refused(request(Opcode::kRcWriteOnly, 0, 0, 8));
  refused(request(Opcode::kRcWriteOnly, 0, 0, 2'000, 2'000));  // above the path MTU
  refused(request(Opcode::kRcWriteFirst, 0, 0, 5'000, 512));
  refused(request(Opcode::kRcWriteFirst, 0, 0, 100, kMtu));
  refused(request(Opcode::kRcWriteMiddle, 0, 0, 0, kMtu));
  refused(request(Opcode::kRcWriteLast, 0, 0, 0, 8));
}

TEST_F(SoftRcHostile, WrongFramesAreRefused) {
  const auto refused = [this](Bytes bytes, const char* what) {
    throwAt(sealed(std::move(bytes), *attacker), *attacker);
    settle();
    const auto got = answers();
    ASSERT_EQ(got.size(), 1U) << what;
    EXPECT_EQ(got[0].aeth.syndrome, kNakInvalidRequest) << what;
    EXPECT_TRUE(memory.isUntouched()) << what;
    connect();
  };
  const auto written = [](const Packet& packet) {
    Bytes bytes(wireBytes(packet));
    write(packet, bytes);
    return bytes;
  };
  Bytes unpadded = written(request(Opcode::kRcWriteOnly, 0, 0, 13, 13));
  unpadded.resize(unpadded.size() - 3);
  unpadded[1] &= 0xCF;
  refused(unpadded, "no multiple of four");
  Bytes above = written(request(Opcode::kRcWriteFirst, 0, 0, kRegionBytes, kMtu));
  above.resize(above.size() + 4096);
  refused(above, "above the largest path MTU");
}

TEST_F(SoftRcHostile, ASENDIsNotReady) {
  throwAt(request(Opcode::kRcSendOnly, 0, 0, 0, 8));
  settle();
  const auto got = answers();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].aeth.syndrome, kReceiverNotReady);
  EXPECT_EQ(victim.endpoint->state(), RcState::kConnected);
}

TEST_F(SoftRcHostile, ReachesOutside) {
  for (const auto opcode : {Opcode::kRcReadRequest, Opcode::kRcWriteOnly}) {
    const std::size_t payload = opcode == Opcode::kRcWriteOnly ? 64 : 0;
    for (const std::uint64_t offset :
         {std::uint64_t{kRegionBytes}, std::uint64_t{kRegionBytes - 63}, -std::uint64_t{1},
          -std::uint64_t{64}, -region->address(), -std::uint64_t{kPage}, std::uint64_t{1} << 40}) {
      expectRefused(request(opcode, 0, offset, 64, payload), kNakRemoteAccess, "bounds");
    }
  }
  expectRefused(request(Opcode::kRcReadRequest, 0, 0, 1U << 31), kNakRemoteAccess, "bounds");
  expectRefused(request(Opcode::kRcReadRequest, 0, 0, (1U << 31) + 1), kNakInvalidRequest,
                "invalid_request");
  expectRefused(request(Opcode::kRcWriteFirst, 0, 0, 1U << 31, kMtu), kNakRemoteAccess, "bounds");
  expectRefused(request(Opcode::kRcFetchAdd, 0, kRegionBytes, 0), kNakRemoteAccess, "bounds");
  expectRefused(request(Opcode::kRcFetchAdd, 0, 4, 0), kNakInvalidRequest, "invalid_request");
  Packet guess = request(Opcode::kRcReadRequest, 0, 0, 8);
  guess.reth.rkey += 1;
  expectRefused(guess, kNakRemoteAccess, "rkey");
}

TEST_F(SoftRcHostile, PlaysWithPsns) {
  std::mt19937 random(4791);
  const std::uint64_t before = allDrops();
  std::uint64_t thrown = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 50; ++i, ++thrown) {
      const auto ahead = static_cast<std::uint32_t>(1 + random() % (kMask24 - 1));
      throwAt(request(Opcode::kRcWriteOnly, ahead, 0, 64, 64));
    }
    settle();
  }
  EXPECT_EQ(victim.drops("sequence") + victim.drops("duplicate"), thrown);
  EXPECT_EQ(allDrops(), before + thrown);
  EXPECT_TRUE(memory.isUntouched());
  EXPECT_LE(answers().size(), thrown);
  EXPECT_EQ(victim.endpoint->state(), RcState::kConnected);
  throwAt(request(Opcode::kRcWriteOnly, 0, 0, 64, 64));  // what it waits for
  settle();
  EXPECT_EQ(memory.region()[0], 0xAA);
}

TEST_F(SoftRcHostile, FloodsWithREADs) {
  for (std::uint32_t i = 0; i < 60; ++i) {
    throwAt(request(Opcode::kRcReadRequest, i * 12, 0, kRegionBytes));
  }
  settle();
  EXPECT_EQ(victim.endpoint->state(), RcState::kFailed);
  EXPECT_EQ(victim.drops("invalid_request"), 1U);
  EXPECT_EQ(victim.drops("not_connected"), 60U - kReads - 1);
  EXPECT_EQ(answers().size(), kReads * 12 + 1U) << "those that were agreed, and a refusal";
}

TEST_F(SoftRcHostile, FloodsWithRepetitions) {
  for (std::uint32_t i = 0; i < kReads; ++i) {
    throwAt(request(Opcode::kRcReadRequest, i, 0, kMtu));
    settle();
  }
  EXPECT_EQ(answers().size(), kReads);
  for (int i = 0; i < 60; ++i) throwAt(request(Opcode::kRcReadRequest, 1, 0, kMtu));
  settle();
  EXPECT_EQ(victim.drops("duplicate"), 60U);
  EXPECT_LE(answers().size(), 2 * kReads);
  EXPECT_EQ(victim.endpoint->state(), RcState::kConnected);
}

TEST_F(SoftRcHostile, AnswersWhatWasNeverAsked) {
  const std::uint32_t first = victim.endpoint->address().psn;
  const std::uint64_t before = allDrops();
  std::uint64_t thrown = 0;
  for (const Opcode opcode :
       {Opcode::kRcAcknowledge, Opcode::kRcAtomicAcknowledge, Opcode::kRcReadResponseOnly,
        Opcode::kRcReadResponseFirst, Opcode::kRcReadResponseMiddle, Opcode::kRcReadResponseLast}) {
    for (const std::uint8_t syndrome : {std::uint8_t{0}, kAckWithoutCredits, kReceiverNotReady,
                                        kNakSequence, kNakRemoteAccess, std::uint8_t{0xFF}}) {
      for (const std::uint32_t ahead : {0U, 1U, kMask24, 0x7FFFFFU, 0x800000U}) {
        const bool data = formOf(opcode).payload != PayloadRule::kNone;
        Packet packet = request(opcode, 0, 0, 0, data ? kMtu : 0);
        packet.bth.psn = (first + ahead) & kMask24;
        packet.aeth.syndrome = syndrome;
        throwAt(packet);
        ++thrown;
      }
    }
    settle();
  }
  EXPECT_EQ(allDrops(), before + thrown);
  EXPECT_EQ(victim.drops("stray") + victim.drops("duplicate"), thrown);
  EXPECT_EQ(victim.endpoint->state(), RcState::kConnected);
  EXPECT_TRUE(answers().empty());
  EXPECT_TRUE(memory.isUntouched());
}

TEST_F(SoftRcHostile, SpeaksForSomebodyElse) {
  net::UdpSocketOptions whole;
  whole.unfragmented = true;
  auto stranger = net::UdpSocket::bind(freshLoopback(), kRoceUdpPort, whole);
  ASSERT_TRUE(stranger);
  const Packet packet = request(Opcode::kRcWriteOnly, 0, 0, 64, 64);
  Bytes bytes(wireBytes(packet));
  write(packet, bytes);
  throwAt(sealed(bytes, *stranger), *stranger);
  Packet of_other = packet;  // the honest peer's QPN
  of_other.bth.destination_qpn = other->address().qpn;
  throwAt(of_other);
  settle();
  EXPECT_EQ(victim.drops("peer"), 1U);
  EXPECT_TRUE(memory.isUntouched());
  EXPECT_EQ(victim.endpoint->state(), RcState::kConnected);
  EXPECT_EQ(other->state(), RcState::kConnected);
}

TEST_F(SoftRcHostile, Noise) {
  std::mt19937 random(4791);
  std::uint32_t ahead = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto opcode = static_cast<Opcode>(random() % 0x16);
    const std::uint64_t offset = random() % 2 == 0 ? random() % kRegionBytes : random();
    const auto length = static_cast<std::uint32_t>(random() % 4 == 0 ? random() : random() % 3000);
    const PayloadRule rule = formOf(opcode).payload;
    std::size_t payload = random() % 2 == 0 ? std::min(length, kMtu) : random() % (kMtu + 1);
    if (rule == PayloadRule::kNone) payload = 0;
    if (rule == PayloadRule::kWhole) payload = random() % 4 == 0 ? 256 : kMtu;
    if (!formOf(opcode).known) continue;
    throwAt(
        request(opcode, random() % 4 == 0 ? random() % 64 - 32 : ahead++, offset, length, payload));
    if (round % 16 != 0) continue;
    settle();
    answers();
    if (victim.endpoint->state() == RcState::kFailed) {
      connect();
      ahead = 0;
    }
  }
  EXPECT_TRUE(memory.isWhole());
}

}  // namespace
}  // namespace pingloom::rdma::soft::soft_rc_hostile_test
