#include <gtest/gtest.h>
#include <pingloom/pages.h>

#include <memory>

#include "client.h"

namespace pingloom::pages::test::keep_one_in_test {
namespace {

// The header of the page on which a handle's slot is.
pingloom_page_header& headerOf(const std::uint64_t* slot) {
  const auto address = reinterpret_cast<std::uintptr_t>(slot) / PINGLOOM_PAGE_BYTES;
  return *reinterpret_cast<pingloom_page_header*>(address * PINGLOOM_PAGE_BYTES);
}

TEST(KeepOneIn, IsWhatTheAgentHasWritten) {
  Client client("/nonexistent/pages.sock");
  EXPECT_EQ(pingloom_pages_keep_one_in(client), 0U) << "without a page";
  const pingloom_counter counter = client.counter("jobs_total");
  EXPECT_EQ(pingloom_pages_keep_one_in(client), 0U);
  headerOf(counter.slot).keep_one_in = 100;
  EXPECT_EQ(pingloom_pages_keep_one_in(client), 100U);
  EXPECT_EQ(pingloom_pages_keep_one_in(nullptr), 0U);
}

TEST(KeepOneIn, EndsWithTheConnection) {
  SocketFolder folder;
  auto agent = std::make_unique<ScriptedAgent>(folder.socket());
  Client client(folder.socket());
  const pingloom_counter counter = client.counter("jobs_total");
  ASSERT_TRUE(client.settled());
  headerOf(counter.slot).keep_one_in = 1;
  EXPECT_EQ(pingloom_pages_keep_one_in(client), 1U);
  agent.reset();
  EXPECT_TRUE(eventually([&] { return pingloom_pages_keep_one_in(client) == 0; }));
}

}  // namespace
}  // namespace pingloom::pages::test::keep_one_in_test
