// What goes wrong on a device, and that a new endpoint works afterwards.
#include <sys/resource.h>

#include "fake_host.h"

namespace pingloom::rdma::verbs::faults_test {
namespace {

using testing::Test;

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

class FaultsTest : public FakeVerbsTest {
 protected:
  void SetUp() override {
    setDevices(
        "device nic_a clock_khz=156250 mask_bits=41\n"
        "port 1\ngid 0 10.0.0.1 v2\nport 2\ngid 0 10.1.0.1 v2\n"
        "device nic_b clock_khz=156250 mask_bits=41\nport 1\ngid 0 10.0.0.2 v2\n");
  }
  void expectWorking(Side& a, Side& b) {
    ASSERT_EQ(a.send(b.endpoint->address(), "works"), PostResult::kPosted);
    const auto packet = b.nextPacket();
    ASSERT_TRUE(packet);
    EXPECT_EQ(packet->payload, "works");
  }
  void expectAnewWorks() {
    Side a(at("10.0.0.1"));
    Side b(at("10.0.0.2"));
    expectWorking(a, b);
  }
};

TEST_F(FaultsTest, SendThatCompletesInErrorEndsTheEndpoint) {
  {
    Side a(at("10.0.0.1"));
    Side b(at("10.0.0.2"));
    fakeVerbsFault("fail_sends nic_a 1");
    ASSERT_EQ(a.send(b.endpoint->address(), "fails", 42), PostResult::kPosted);
    const std::string failure = a.failure();
    EXPECT_TRUE(contains(failure, "a send of queue pair")) << failure;
    EXPECT_TRUE(contains(failure, "local QP operation error")) << failure;
    const auto sent = a.nextSent();
    ASSERT_TRUE(sent);
    EXPECT_EQ(sent->id, 42U);
    EXPECT_FALSE(sent->ok);
    EXPECT_FALSE(a.endpoint->poll(a.events)) << "it stays failed";
    EXPECT_TRUE(b.step(0)) << "the other side has nothing to do with it";
  }
  expectAnewWorks();
}

TEST_F(FaultsTest, MessagesTheDeviceDoesNotTakeComeBack) {
  Side a(at("10.0.0.1"));
  Side b(at("10.0.0.2"));
  expectWorking(a, b);
  ASSERT_TRUE(a.nextSent());
  fakeVerbsFault("fail_posts nic_a 1");
  ASSERT_EQ(a.send(b.endpoint->address(), "not taken", 7), PostResult::kPosted);
  const auto sent = a.nextSent();
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->id, 7U);
  EXPECT_FALSE(sent->ok);
  EXPECT_FALSE(sent->ticks);
  expectWorking(a, b);  // its queue pair was not to blame
}

TEST_F(FaultsTest, QueuePairInErrorIsNoticedWithoutAnEvent) {
  {
    Side a(at("10.0.0.1"));
    Side b(at("10.0.0.2"));
    fakeVerbsFault("pair_error nic_b");
    const std::string failure = b.failure();
    EXPECT_TRUE(contains(failure, "nic_b port 1: a receive of queue pair")) << failure;
  }
  expectAnewWorks();
}

TEST_F(FaultsTest, OversizedDatagramKillsThePairAndThatIsNoticed) {
  setDevices(
      "device nic_a\nport 1 mtu=1024\ngid 0 10.0.0.1 v2\n"
      "device nic_big\nport 1 mtu=4096\ngid 0 10.0.0.2 v2\n");
  Side a(at("10.0.0.1"));
  Side big(at("10.0.0.2"));
  ASSERT_EQ(big.send(a.endpoint->address(), std::string(4096, 'x')), PostResult::kPosted);
  EXPECT_TRUE(contains(a.failure(), "completed in error"));
  Side again(at("10.0.0.1"));
  expectWorking(big, again);
}

TEST_F(FaultsTest, PortThatGoesDownIsSaidAtOnceAndComesBack) {
  {
    Side a(at("10.0.0.1"));
    Side b(at("10.0.0.2"));
    fakeVerbsFault("port_down nic_a 2");
    EXPECT_TRUE(a.step()) << "another port's";
    fakeVerbsFault("port_down nic_a 1");
    EXPECT_EQ(a.failure(), "nic_a port 1: port 1 went down");
    const auto down = openVerbsDevice(at("10.0.0.1"));
    ASSERT_FALSE(down);
    EXPECT_TRUE(contains(down.error().text(), "nic_a port 1 is down")) << down.error().text();
    fakeVerbsFault("port_up nic_a 1");
  }
  expectAnewWorks();
}

TEST_F(FaultsTest, RemovedDevice) {
  Side a(at("10.0.0.1"));
  fakeVerbsFault("remove nic_a");
  EXPECT_EQ(a.failure(), "nic_a port 1: the device failed or was removed");
  const auto gone = openVerbsDevice({.address = ip("10.0.0.1"), .device = "nic_a"});
  ASSERT_FALSE(gone);
  EXPECT_TRUE(contains(gone.error().text(), "there is no RDMA device 'nic_a'; there are: nic_b"))
      << gone.error().text();
}

TEST_F(FaultsTest, RemovedDeviceWhoseDriverSaysNothing) {
  Side a(at("10.0.0.1"));
  fakeVerbsFault("vanish nic_a");
  EXPECT_EQ(a.failure(), "nic_a port 1: the device was removed");
}

TEST_F(FaultsTest, AddressThatLeavesThePort) {
  Side a(at("10.0.0.1"));
  fakeVerbsFault("gid_gone nic_a 1 10.9.9.9");
  EXPECT_TRUE(a.step()) << "another address";
  fakeVerbsFault("gid_gone nic_a 1 10.0.0.1");
  EXPECT_EQ(a.failure(), "nic_a port 1: the address 10.0.0.1 left port 1");
}

TEST_F(FaultsTest, NoPermission) {
  setDevices("device nic_a open_errno=13\nport 1\ngid 0 10.0.0.1 v2\n");
  for (const DeviceChoice& choice : {at("10.0.0.1"), DeviceChoice{.device = "nic_a"}}) {
    const auto opened = openVerbsDevice(choice);
    ASSERT_FALSE(opened);
    EXPECT_TRUE(
        contains(opened.error().text(), "cannot open /dev/infiniband/uverbs-nic_a: no permission"))
        << opened.error().text();
  }
}

TEST_F(FaultsTest, OneDeviceThatCannotBeOpenedDoesNotHideTheOthers) {
  setDevices(
      "device nic_a open_errno=13\nport 1\ngid 0 10.0.0.1 v2\n"
      "device nic_b\nport 1\ngid 0 10.0.0.2 v2\n");
  EXPECT_TRUE(openVerbsDevice(at("10.0.0.2")));
  const auto all = listDevices();
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->at(0).problem.empty());
  EXPECT_TRUE(all->at(1).problem.empty());
}

TEST_F(FaultsTest, LimitOfLockedMemory) {
  setDevices("device nic_a memory_errno=12\nport 1\ngid 0 10.0.0.1 v2\n");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &before), 0);
  rlimit low = before;
  low.rlim_cur = 64 * 1024;
  ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &low), 0);
  auto device = openVerbsDevice(at("10.0.0.1"));
  const auto made = (*device)->createUd({});
  setrlimit(RLIMIT_MEMLOCK, &before);
  ASSERT_FALSE(made);
  EXPECT_TRUE(contains(made.error().text(), "the limit of locked memory is 64 KiB"))
      << made.error().text();
}

TEST_F(FaultsTest, NoDevices) {
  setDevices("");
  const auto opened = openVerbsDevice(at("10.0.0.1"));
  ASSERT_FALSE(opened);
  EXPECT_TRUE(contains(opened.error().text(), "there is no RDMA device on this host"));
  EXPECT_TRUE(contains(opened.error().text(), "or write 'device: soft'"));
}

}  // namespace
}  // namespace pingloom::rdma::verbs::faults_test
