#include "controller/control/endpoint_directory.h"

#include <gtest/gtest.h>

#include "unit/controller/support.h"

namespace pingloom::controller::endpoint_directory_test {
namespace {

using test::endpointOf;
using test::ip;

class EndpointDirectoryTest : public testing::Test {
 protected:
  void set(const std::string& address, std::uint32_t qpn) {
    const auto endpoint = endpointOf(address, qpn);
    directory_.set(endpoint.address, &endpoint);
  }
  wire::EndpointUpdate update(std::uint64_t held) {
    wire::ControllerMessage message;
    EXPECT_TRUE(message.ParseFromString(*directory_.updateFrom(held)));
    return message.endpoints();
  }
  // What an agent has after one more update.
  void follow(plan::HeldEndpoints& held) {
    const bool ours = held.version.controller == directory_.controller();
    auto next = plan::apply(update(ours ? held.version.number : 0), held);
    ASSERT_TRUE(next) << next.error().text();
    held = std::move(*next);
  }
  std::string textOf(const plan::HeldEndpoints& held) {
    std::map<std::string, std::uint32_t> sorted;
    for (const auto& [address, endpoint] : *held.table) sorted[address.text()] = endpoint.qpn;
    std::string text;
    for (const auto& [address, qpn] : sorted) text += address + "=" + std::to_string(qpn) + " ";
    return text;
  }

  EndpointDirectory directory_{plan::HeldEndpoints{}};
};

TEST_F(EndpointDirectoryTest, AgentsFollowByDifferencesFromWhateverTheyHold) {
  plan::HeldEndpoints prompt;
  plan::HeldEndpoints slow;
  set("10.0.0.1", 17);
  set("10.0.0.2", 18);
  ASSERT_TRUE(directory_.commit());
  follow(prompt);
  follow(slow);
  EXPECT_EQ(textOf(prompt), "10.0.0.1=17 10.0.0.2=18 ");
  set("10.0.0.1", 99);
  ASSERT_TRUE(directory_.commit());
  EXPECT_EQ(update(2).changed_size(), 1) << "only what is other";
  follow(prompt);
  directory_.set(ip("10.0.0.2"), nullptr);
  set("fd00::3", 20);
  ASSERT_TRUE(directory_.commit());
  follow(prompt);
  follow(slow);
  EXPECT_EQ(textOf(prompt), "10.0.0.1=99 fd00::3=20 ");
  EXPECT_EQ(textOf(slow), textOf(prompt)) << "two versions in one step";
  set("10.0.0.2", 21);
  ASSERT_TRUE(directory_.commit());
  follow(prompt);
  EXPECT_EQ(textOf(prompt), "10.0.0.1=99 10.0.0.2=21 fd00::3=20 ") << "it came back";
}

TEST_F(EndpointDirectoryTest, NothingNewIsNoVersion) {
  EXPECT_FALSE(directory_.commit());
  set("10.0.0.1", 17);
  ASSERT_TRUE(directory_.commit());
  set("10.0.0.1", 17);
  directory_.set(ip("10.0.0.2"), nullptr);
  EXPECT_FALSE(directory_.commit());
  EXPECT_EQ(directory_.version(), 2U);
}

TEST_F(EndpointDirectoryTest, AnUpdateIsEncodedOnceForAll) {
  set("10.0.0.1", 17);
  directory_.commit();
  EXPECT_EQ(directory_.updateFrom(0), directory_.updateFrom(0));
  EXPECT_EQ(directory_.updateFrom(1), directory_.updateFrom(1));
  EXPECT_NE(directory_.updateFrom(0), directory_.updateFrom(1));
  EXPECT_EQ(directory_.updateFrom(99), directory_.updateFrom(0)) << "of the future";
  for (std::uint64_t held = 0; held < 100; ++held) {
    set("10.0.0.1", 18 + static_cast<std::uint32_t>(held));
    directory_.commit();
  }
  for (std::uint64_t held = 0; held < 100; ++held) {
    EXPECT_NE(directory_.updateFrom(held), nullptr) << "more bases than are kept";
  }
}

TEST_F(EndpointDirectoryTest, VersionsBeforeTheForgottenRemovalsGetTheWholeTable) {
  plan::HeldEndpoints prompt;
  plan::HeldEndpoints slow;
  for (std::uint32_t i = 0; i <= EndpointDirectory::kMaxRemoved + 1; ++i) {
    const auto endpoint = endpointOf(IpAddress::fromV4(0x0a000001 + i).text(), 17);
    directory_.set(endpoint.address, &endpoint);
  }
  directory_.commit();
  follow(prompt);
  follow(slow);
  for (std::uint32_t i = 1; i <= EndpointDirectory::kMaxRemoved; ++i) {
    directory_.set(IpAddress::fromV4(0x0a000001 + i), nullptr);
  }
  directory_.commit();
  follow(prompt);
  EXPECT_NE(update(slow.version.number).base_version(), 0U);
  directory_.set(ip("10.0.0.1"), nullptr);
  directory_.commit();
  EXPECT_NE(update(prompt.version.number).base_version(), 0U);
  EXPECT_EQ(update(slow.version.number).base_version(), 0U) << "all but the newest are forgotten";
  follow(prompt);
  follow(slow);
  EXPECT_EQ(prompt.table->size(), 1U);
  EXPECT_EQ(*slow.table, *prompt.table);
}

TEST_F(EndpointDirectoryTest, ARestartedControllerGoesOnFromWhatItKept) {
  plan::HeldEndpoints prompt;
  set("10.0.0.1", 17);
  set("10.0.0.2", 18);
  directory_.commit();
  follow(prompt);
  const plan::HeldEndpoints kept = directory_.held();
  set("10.0.0.1", 99);
  directory_.commit();
  plan::HeldEndpoints later = prompt;
  follow(later);  // and this was not kept

  directory_ = EndpointDirectory(kept);
  EXPECT_EQ(update(prompt.version.number).changed_size(), 0) << "it holds what was kept";
  follow(prompt);
  EXPECT_EQ(textOf(prompt), "10.0.0.1=17 10.0.0.2=18 ");
  EXPECT_EQ(update(later.version.number).base_version(), 0U) << "nobody knows what that was";
  follow(later);
  EXPECT_EQ(textOf(later), textOf(prompt));
  directory_.set(ip("10.0.0.2"), nullptr);
  directory_.commit();
  plan::HeldEndpoints slow = kept;
  for (plan::HeldEndpoints* held : {&prompt, &later, &slow}) {
    follow(*held);
    EXPECT_EQ(textOf(*held), "10.0.0.1=17 ");
  }
}

}  // namespace
}  // namespace pingloom::controller::endpoint_directory_test
