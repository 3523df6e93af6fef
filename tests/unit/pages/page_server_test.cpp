#include "pages/page_server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "net/zmq_dealer.h"
#include "pages.pb.h"
#include "pages/page_messages.h"
#include "test_agent.h"

namespace pingloom::pages::page_server_test {
namespace {

class PageServerTest : public testing::Test {
 protected:
  PageServerTest() { EXPECT_TRUE(dealer.open(context, agent.address())); }

  // The reason that is given to a collector which sends this.
  std::string refusal(const std::string& frame) {
    std::string back;
    bool sent = false;
    for (int i = 0; i < 2000; ++i) {
      sent = sent || (dealer.connected() && dealer.send("", frame));
      agent.work(kSecond);
      if (dealer.receive(back) == net::ZmqDealer::Received::kMessage) break;
      usleep(5000);
    }
    wire::PageReply reply;
    EXPECT_TRUE(reply.ParseFromString(back));
    return reply.refused().reason();
  }
  std::string refusal(const wire::PageRequest& request) {
    return refusal(request.SerializeAsString());
  }

  test::Agent agent;
  net::ZmqContext context;
  net::ZmqDealer dealer;
};

TEST_F(PageServerTest, RefusalsAreCountedByWhatIsWrong) {
  wire::PageRequest request;
  request.mutable_directory();
  request.set_version(kPageControlVersion + 1);
  EXPECT_EQ(refusal(request), "this agent speaks version 1 of the pages' control protocol");
  request.set_version(kPageControlVersion);
  EXPECT_EQ(refusal(request), "connect first");
  EXPECT_EQ(refusal("\xff\xff\xff"), "that was no request");
  request.mutable_connect();
  EXPECT_EQ(refusal(request), "the endpoint or the name is malformed");
  const PageServerCounters& counters = agent.server->counters();
  EXPECT_EQ(counters.requests, 4U);
  EXPECT_EQ(counters.version, 1U);
  EXPECT_EQ(counters.unknown, 1U);
  EXPECT_EQ(counters.malformed, 2U);
  EXPECT_EQ(agent.server->readers(), 0U);
}

}  // namespace
}  // namespace pingloom::pages::page_server_test
