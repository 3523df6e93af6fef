// What goes wrong between RC endpoints: each request ends exactly once, and the reason is said.
#include <array>

#include "rc_host.h"

namespace pingloom::rdma::verbs::rc_faults_test {
namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

class RcFaultsTest : public FakeVerbsTest {
 protected:
  void SetUp() override {
    setDevices(
        "device nic_a\nport 1\ngid 0 10.0.0.1 v2\ndevice nic_b\nport 1\ngid 0 10.0.0.2 v2\n");
  }
  // The first of three requests is refused with `status`, the others are flushed, and the endpoint
  // is of no more use.
  static void expectRefused(RcSide& a, const RcRequest& request, RcStatus status) {
    RcRequest one = request;
    for (const std::uint64_t id : {901U, 902U, 903U}) {
      one.id = id;
      one.signalled = id != 901;  // a failure is never silent
      ASSERT_EQ(a.endpoint->post(one), PostResult::kPosted);
    }
    a.endpoint->flush();
    EXPECT_NE(a.failure(), "");
    EXPECT_EQ(a.endOf(901), status);
    EXPECT_EQ(a.endOf(902), RcStatus::kFlushed);
    EXPECT_EQ(a.endOf(903), RcStatus::kFlushed);
    EXPECT_EQ(a.endpoint->state(), RcState::kFailed);
    EXPECT_EQ(a.post(one), PostResult::kUnreachable);
    EXPECT_FALSE(a.endpoint->poll(a.events)) << "it stays failed";
    EXPECT_TRUE(a.events.done.empty()) << "nothing ends twice";
  }
};

TEST_F(RcFaultsTest, WrongKey) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  RcRequest read = a.request(RcOperation::kRead, b, 100);
  read.rkey ^= 1;
  expectRefused(a, read, RcStatus::kRemoteAccess);
}

TEST_F(RcFaultsTest, AcrossTheRegionsEnd) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  expectRefused(a, a.request(RcOperation::kWrite, b, 100, RcSide::kBytes - 99),
                RcStatus::kRemoteAccess);
}

TEST_F(RcFaultsTest, RegionThatMayOnlyBeRead) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2", RcSide::everything(), Access::kRead);
  connect(a, b);
  const RcRequest read = a.request(RcOperation::kRead, b, 100);
  ASSERT_EQ(a.post(read), PostResult::kPosted);
  EXPECT_EQ(a.endOf(read.id), RcStatus::kOk);
  expectRefused(a, a.request(RcOperation::kWrite, b, 100), RcStatus::kRemoteAccess);
}

TEST_F(RcFaultsTest, RegionThatIsNoLongerRegistered) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  const RcRequest read = a.request(RcOperation::kRead, b, 100);
  b.region.reset();
  b.region = std::move(b.domain->registerMemory(b.memory, RcSide::kEverything).value());
  expectRefused(a, read, RcStatus::kRemoteAccess);
}

TEST_F(RcFaultsTest, RegionOfAnotherDomain) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  const auto other = std::move(b.device->createDomain().value());
  const auto region = std::move(other->registerMemory(b.memory, RcSide::kEverything).value());
  RcRequest read = a.request(RcOperation::kRead, b, 100);
  read.remote_address = region->address();
  read.rkey = region->rkey();
  expectRefused(a, read, RcStatus::kRemoteAccess);
}

TEST_F(RcFaultsTest, EndpointThatAllowsNothing) {
  RcSide a("10.0.0.1");
  RcOptions options = RcSide::everything();
  options.access = Access::kNone;
  RcSide b("10.0.0.2", options);
  connect(a, b);
  expectRefused(a, a.request(RcOperation::kRead, b, 100), RcStatus::kRemoteInvalid);
}

TEST_F(RcFaultsTest, AtomicThatIsNotAligned) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  expectRefused(a, a.request(RcOperation::kFetchAdd, b, 8, 4), RcStatus::kRemoteInvalid);
}

TEST_F(RcFaultsTest, PeerThatHasGone) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  const RcRequest read = a.request(RcOperation::kRead, b, 100);
  b.endpoint.reset();
  expectRefused(a, read, RcStatus::kRetriesExceeded);
}

TEST_F(RcFaultsTest, PeerWithoutAReceiveForTheImmediate) {
  RcOptions options = RcSide::everything();
  options.rnr_retries = 2;
  RcSide a("10.0.0.1", options);
  options.immediates = 0;
  RcSide b("10.0.0.2", options);
  connect(a, b);
  expectRefused(a, a.request(RcOperation::kWriteImmediate, b, 100), RcStatus::kRnrExceeded);
}

TEST_F(RcFaultsTest, LostPacketsAreAskedForAgain) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  fakeVerbsFault("lose nic_a 5");
  const RcRequest read = a.request(RcOperation::kRead, b, 100);
  ASSERT_EQ(a.post(read), PostResult::kPosted);
  EXPECT_EQ(a.endOf(read.id), RcStatus::kOk);
}

TEST_F(RcFaultsTest, DeviceThatFailsARequest) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  fakeVerbsFault("fail_sends nic_a 1");
  expectRefused(a, a.request(RcOperation::kRead, b, 100), RcStatus::kLocal);
  EXPECT_TRUE(contains(a.failure(), "local QP operation error")) << a.failure();
}

TEST_F(RcFaultsTest, DeviceThatDoesNotTakeARequest) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  fakeVerbsFault("fail_posts nic_a 1");
  expectRefused(a, a.request(RcOperation::kRead, b, 100), RcStatus::kLocal);
}

// The device's completion never comes, and its queue pair says that it works.
TEST_F(RcFaultsTest, RequestThatIsNeverDoneHasADeadline) {
  RcOptions options = RcSide::everything();
  options.timeout = 1;
  options.retries = 0;
  RcSide a("10.0.0.1", options);
  RcSide b("10.0.0.2");
  connect(a, b);
  fakeVerbsFault("hang nic_a");
  const Nanos begin = monotonicNow();
  expectRefused(a, a.request(RcOperation::kRead, b, 100), RcStatus::kRetriesExceeded);
  EXPECT_GE(monotonicNow() - begin, kSecond);
  EXPECT_TRUE(contains(a.failure(), "was not done in time")) << a.failure();
}

TEST_F(RcFaultsTest, QueuePairThatDiesSilentlyIsNoticedBeforeTheDeadline) {
  RcOptions options = RcSide::everything();
  options.timeout = 20;  // all retries: more than two minutes
  RcSide a("10.0.0.1", options);
  RcSide b("10.0.0.2");
  connect(a, b);
  const RcRequest read = a.request(RcOperation::kRead, b, 100);
  fakeVerbsFault("mute nic_a");
  ASSERT_EQ(a.post(read), PostResult::kPosted);
  EXPECT_TRUE(contains(a.failure(), "nic_a port 1: the queue pair is in error")) << a.failure();
  EXPECT_EQ(a.endOf(read.id), RcStatus::kFlushed);
}

TEST_F(RcFaultsTest, ResponderThatRefusedSomethingNoticesThatItIsDead) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  RcRequest read = a.request(RcOperation::kRead, b, 100);
  read.rkey ^= 1;
  ASSERT_EQ(a.post(read), PostResult::kPosted);
  EXPECT_EQ(a.endOf(read.id), RcStatus::kRemoteAccess);
  EXPECT_TRUE(contains(b.failure(), "the queue pair is in error"));
}

TEST_F(RcFaultsTest, LocalMemoryThatIsNotRegisteredHereIsNotTouched) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  std::vector<std::uint8_t> stray(100);
  const std::array<LocalPiece, 3> bad = {LocalPiece{a.region.get(), stray},
                                         {nullptr, std::span(a.memory).first(100)},
                                         {b.region.get(), std::span(b.memory).first(100)}};
  for (const LocalPiece& piece : bad) {
    a.endpoint = std::move(a.domain->createRc(RcSide::everything()).value());
    b.endpoint = std::move(b.domain->createRc(RcSide::everything()).value());
    connect(a, b);
    a.done.clear();
    const RcRequest before = a.request(RcOperation::kRead, b, 100);
    RcRequest read = a.request(RcOperation::kRead, b, 100);
    read.local = {&piece, 1};
    const std::uint64_t after = read.id + 1000;
    ASSERT_EQ(a.endpoint->post(before), PostResult::kPosted);
    ASSERT_EQ(a.endpoint->post(read), PostResult::kPosted);
    const std::uint64_t bad_id = std::exchange(read.id, after);
    ASSERT_EQ(a.post(read), PostResult::kPosted);
    EXPECT_TRUE(contains(a.failure(), "local memory or length is not valid"));
    EXPECT_EQ(a.endOf(before.id), RcStatus::kOk) << "it came first";
    EXPECT_EQ(a.endOf(bad_id), RcStatus::kLocal);
    EXPECT_EQ(a.endOf(after), RcStatus::kFlushed);
  }
}

TEST_F(RcFaultsTest, MorePiecesThanThereMayBe) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  const std::vector<LocalPiece> pieces(RcRequest::kMaxPieces + 1,
                                       LocalPiece{a.region.get(), std::span(a.memory).first(1)});
  RcRequest read = a.request(RcOperation::kRead, b, 0);
  read.local = pieces;
  expectRefused(a, read, RcStatus::kLocal);
}

TEST_F(RcFaultsTest, AtomicNeedsEightBytes) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  expectRefused(a, a.request(RcOperation::kFetchAdd, b, 4), RcStatus::kLocal);
}

TEST_F(RcFaultsTest, PortThatIsDownForAMomentIsBridged) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  connect(a, b);
  fakeVerbsFault("port_down nic_a 1");
  const RcRequest read = a.request(RcOperation::kRead, b, 100);
  ASSERT_EQ(a.post(read), PostResult::kPosted);
  ASSERT_TRUE(a.step(2));
  fakeVerbsFault("port_up nic_a 1");
  EXPECT_EQ(a.endOf(read.id), RcStatus::kOk);
}

TEST_F(RcFaultsTest, DeviceThatIsRemovedEndsAllItsEndpoints) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  auto another = a.domain->createRc({});
  ASSERT_TRUE(another);
  connect(a, b);
  fakeVerbsFault("hang nic_a");
  const RcRequest read = a.request(RcOperation::kRead, b, 100);
  ASSERT_EQ(a.post(read), PostResult::kPosted);
  fakeVerbsFault("remove nic_a");
  EXPECT_EQ(a.failure(), "nic_a port 1: the device failed or was removed");
  EXPECT_EQ(a.endOf(read.id), RcStatus::kFlushed);
  RcEvents events;
  EXPECT_FALSE((*another)->poll(events)) << "one of them takes the event for all";
}

TEST_F(RcFaultsTest, DeviceThatVanishes) {
  RcSide a("10.0.0.1");
  fakeVerbsFault("vanish nic_a");
  EXPECT_EQ(a.failure(), "nic_a port 1: the device was removed");
}

TEST_F(RcFaultsTest, AddressThatLeavesThePort) {
  RcSide a("10.0.0.1");
  fakeVerbsFault("gid_gone nic_a 1 10.0.0.1");
  EXPECT_EQ(a.failure(), "nic_a port 1: the address 10.0.0.1 left port 1");
}

TEST_F(RcFaultsTest, PeerThatDoesNotExistIsSaidWhenConnecting) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  fakeVerbsFault("handle_errno nic_a 10.0.0.2 110");  // ETIMEDOUT
  const auto connected = a.endpoint->connect(b.endpoint->address());
  ASSERT_FALSE(connected);
  EXPECT_TRUE(contains(connected.error().text(), "nic_a port 1: there is no way to 10.0.0.2"))
      << connected.error().text();
  EXPECT_EQ(a.endpoint->state(), RcState::kFailed);
}

TEST_F(RcFaultsTest, ANewEndpointTakesTheFailedOnesPlace) {
  RcSide a("10.0.0.1");
  RcSide b("10.0.0.2");
  for (int i = 0; i < 3; ++i) {
    connect(a, b);
    fakeVerbsFault("pair_error nic_a");
    EXPECT_NE(a.failure(), "");
    a.endpoint = std::move(a.domain->createRc(RcSide::everything()).value());
    b.endpoint = std::move(b.domain->createRc(RcSide::everything()).value());
  }
  connect(a, b);
  const RcRequest read = a.request(RcOperation::kRead, b, 100);
  ASSERT_EQ(a.post(read), PostResult::kPosted);
  EXPECT_EQ(a.endOf(read.id), RcStatus::kOk);
}

}  // namespace
}  // namespace pingloom::rdma::verbs::rc_faults_test
