#include "rdma/verbs/address_handles.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "fake_host.h"
#include "rdma/verbs/handles.h"
#include "unit/eventually.h"

namespace pingloom::rdma::verbs::address_handles_test {
namespace {

UdPath pathTo(std::string_view address) { return {Gid::of(ip(address)), 0, 0, 0}; }

// Time is a number here; only the resolver's threads take real time.
class AddressHandlesTest : public FakeVerbsTest {
 protected:
  void SetUp() override {
    setDevices("device nic_a\nport 1\ngid 0 10.0.0.1 v2\n");
    const auto list = DeviceList::get().value();
    auto context = openContext(list.devices()[0]).value();
    auto domain = allocateProtectionDomain(context.get(), "test").value();
    device_ = std::make_shared<OpenedDevice>(OpenedDevice{std::move(context), std::move(domain)});
    handles_ = std::make_unique<AddressHandles>(device_, PathDefaults{});
    device_.reset();
  }
  void TearDown() override {
    handles_.reset();
    FakeVerbsTest::TearDown();
  }
  // What find() comes to once the resolver has answered.
  PostResult settled(const UdPath& path, Nanos now) {
    auto result = PostResult::kResolving;
    afterAnswers(now, [&] {
      result = handles_->find(path, now).result;
      return result != PostResult::kResolving;
    });
    return result;
  }
  // Time in which the resolver's threads would answer, were they asked.
  void letResolve(Nanos now) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    handles_->update(now);
  }
  // Tells whether the condition holds once they have answered.
  template <typename Condition>
  bool afterAnswers(Nanos now, Condition condition) {
    return test::eventually([&] {
      handles_->update(now);
      return condition();
    });
  }
  bool becomes(PostResult result, const UdPath& path, Nanos now) {
    return afterAnswers(now, [&] { return handles_->find(path, now).result == result; });
  }

  std::shared_ptr<OpenedDevice> device_;
  std::unique_ptr<AddressHandles> handles_;
};

TEST_F(AddressHandlesTest, SlowOnesKeepNobodyWaiting) {
  for (int i = 1; i <= 20; ++i) {
    fakeVerbsFault(fmt::format("handle_delay nic_a 10.0.1.{} 1500", i).c_str());
  }
  const Nanos begin = monotonicNow();
  for (int i = 1; i <= 20; ++i) {
    EXPECT_EQ(handles_->find(pathTo(fmt::format("10.0.1.{}", i)), 0).result,
              PostResult::kResolving);
  }
  EXPECT_EQ(settled(pathTo("10.0.0.2"), 0), PostResult::kPosted);
  EXPECT_LT(monotonicNow() - begin, kSecond);
}

// No stranger answers, and there are more of them than threads. A planned address still comes next.
TEST_F(AddressHandlesTest, StrangersDoNotKeepThePlannedWaiting) {
  for (int i = 1; i <= 250; ++i) {
    const std::string stranger = fmt::format("10.0.1.{}", i);
    fakeVerbsFault(fmt::format("handle_delay nic_a {} 1000", stranger).c_str());
    handles_->find(pathTo(stranger), 0);
  }
  const UdPath path = pathTo("10.0.0.2");
  const Nanos begin = monotonicNow();
  handles_->find(path, 0);  // its own message came first, without a plan
  handles_->prepare(path, 0);
  EXPECT_EQ(settled(path, 0), PostResult::kPosted);
  // Behind all strangers it would have to wait for the fourth round.
  EXPECT_LT(monotonicNow() - begin, 5 * kSecond / 2);
}

TEST_F(AddressHandlesTest, FailureIsRememberedAndLookedUpAgainInTheBackground) {
  const UdPath path = pathTo("10.0.0.2");
  fakeVerbsFault("handle_errno nic_a 10.0.0.2 110");
  EXPECT_EQ(settled(path, 0), PostResult::kUnreachable);
  EXPECT_EQ(handles_->failures(), 1U);
  fakeVerbsFault("handle_errno nic_a 10.0.0.2 0");
  const Nanos soon = AddressHandles::kFailureKept - 1;
  EXPECT_EQ(handles_->find(path, soon).result, PostResult::kUnreachable);
  letResolve(soon);
  EXPECT_EQ(handles_->find(path, soon).result, PostResult::kUnreachable) << "not asked again yet";
  const Nanos later = AddressHandles::kFailureKept;
  EXPECT_EQ(handles_->find(path, later).result, PostResult::kUnreachable) << "asks";
  EXPECT_TRUE(becomes(PostResult::kPosted, path, later));
}

TEST_F(AddressHandlesTest, RecheckLooksAgainWhileTheOldOneServes) {
  const UdPath path = pathTo("10.0.0.2");
  ASSERT_EQ(settled(path, 0), PostResult::kPosted);
  fakeVerbsFault("handle_errno nic_a 10.0.0.2 110");
  handles_->recheck(path, AddressHandles::kRecheckApart - 1);
  letResolve(0);
  EXPECT_EQ(handles_->find(path, 0).result, PostResult::kPosted) << "too soon after the last";
  handles_->recheck(path, AddressHandles::kRecheckApart);
  EXPECT_EQ(handles_->find(path, AddressHandles::kRecheckApart).result, PostResult::kPosted);
  EXPECT_TRUE(becomes(PostResult::kUnreachable, path, AddressHandles::kRecheckApart));
}

TEST_F(AddressHandlesTest, OldOnesAreLookedUpAgainOnUse) {
  const UdPath path = pathTo("10.0.0.2");
  ASSERT_EQ(settled(path, 0), PostResult::kPosted);
  const ibv_ah* before = handles_->find(path, 0).handle->get();
  const std::shared_ptr<ibv_ah> in_use = *handles_->find(path, 0).handle;
  const Nanos old = AddressHandles::kFresh;
  EXPECT_EQ(handles_->find(path, old).handle->get(), before) << "in use meanwhile";
  EXPECT_TRUE(afterAnswers(old, [&] { return handles_->find(path, old).handle->get() != before; }));
}

TEST_F(AddressHandlesTest, UnusedOnesAreForgottenButLiveWhileASendUsesThem) {
  const int without = fakeVerbsLiveObjects();
  ASSERT_EQ(settled(pathTo("10.0.0.2"), 0), PostResult::kPosted);
  std::shared_ptr<ibv_ah> send = *handles_->find(pathTo("10.0.0.2"), 0).handle;
  handles_->update(AddressHandles::kIdle - 1);
  EXPECT_EQ(fakeVerbsLiveObjects(), without + 1);
  handles_->update(AddressHandles::kIdle);
  EXPECT_EQ(fakeVerbsLiveObjects(), without + 1) << "the send has not completed";
  EXPECT_EQ(send.use_count(), 1);
  send.reset();
  EXPECT_EQ(fakeVerbsLiveObjects(), without);
}

TEST_F(AddressHandlesTest, TheirNumberIsBounded) {
  const int without = fakeVerbsLiveObjects();
  const UdPath first = pathTo("10.0.0.2");
  for (std::size_t i = 0; i < AddressHandles::kMax + 1000; ++i) {
    handles_->find(
        {Gid::of(IpAddress::fromV4(0x0B000000U + static_cast<std::uint32_t>(i))), 0, 0, 0}, 0);
    if (i % 8000 == 0) letResolve(0);
    handles_->find(first, 0);  // is used all the time, so it stays
  }
  letResolve(0);
  EXPECT_LE(fakeVerbsLiveObjects(), without + static_cast<int>(AddressHandles::kMax));
  EXPECT_EQ(settled(first, 0), PostResult::kPosted);
}

}  // namespace
}  // namespace pingloom::rdma::verbs::address_handles_test
