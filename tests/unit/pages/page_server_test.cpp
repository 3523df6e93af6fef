#include "pages/page_server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "net/zmq_dealer.h"
#include "pages.pb.h"
#include "pages/page_messages.h"
#include "rdma/rc_message.h"
#include "test_agent.h"
#include "unit/eventually.h"

namespace pingloom::pages::page_server_test {
namespace {

class PageServerTest : public testing::Test {
 protected:
  PageServerTest() { EXPECT_TRUE(dealer.open(context, agent.address())); }

  // The reason that is given to a collector which sends this.
  std::string refusal(const std::string& frame) {
    std::string back;
    bool sent = false;
    EXPECT_TRUE(pingloom::test::eventually([&] {
      sent = sent || (dealer.connected() && dealer.send("", frame));
      agent.work(kSecond);
      return dealer.receive(back) == net::ZmqDealer::Received::kMessage;
    }));
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

std::string connectRequest(const rdma::RcAddress& endpoint) {
  wire::PageRequest request;
  request.set_version(kPageControlVersion);
  request.mutable_connect()->set_collector("tester");
  rdma::writeEndpoint(endpoint, *request.mutable_connect()->mutable_endpoint());
  return request.SerializeAsString();
}

TEST_F(PageServerTest, ACollectorsEndpointIsAtItsOwnAddress) {
  const auto device = test::freshDevice();
  const auto domain = std::move(*device->createDomain());
  const auto endpoint = std::move(*domain->createRc({}));
  const std::string bytes = connectRequest(endpoint->address());
  const std::string own = device->info().gid.address().text();
  const auto answerTo = [&](std::string_view peer) {
    return *agent.server->answer({"route", bytes, std::nullopt, peer}, kSecond);
  };
  EXPECT_NE(answerTo("127.0.0.1").refused().reason().find("its RDMA endpoint is at " + own),
            std::string::npos);
  EXPECT_TRUE(answerTo("").has_refused()) << "from an unknown address";
  EXPECT_EQ(agent.server->readers(), 0U);
  EXPECT_EQ(agent.server->counters().elsewhere, 2U);
  EXPECT_TRUE(answerTo(own).has_connected());
}

// A collector that is connected and has asked for the directory.
struct Advising {
  explicit Advising(test::Agent& on, std::string called, Nanos now = kSecond)
      : agent(on), route(std::move(called)) {
    const auto bytes = connectRequest(endpoint->address());
    const std::string own = device->info().gid.address().text();
    EXPECT_TRUE(agent.server->answer({route, bytes, std::nullopt, own}, now)->has_connected());
  }
  wire::PageReply say(std::uint32_t keep_one_in, const std::vector<std::uint64_t>& keep_all = {}) {
    wire::PageRequest request;
    request.set_version(kPageControlVersion);
    request.mutable_directory()->set_keep_one_in(keep_one_in);
    request.mutable_directory()->mutable_keep_all()->Assign(keep_all.begin(), keep_all.end());
    const std::string bytes = request.SerializeAsString();
    auto reply = *agent.server->answer({route, bytes, std::nullopt, ""}, kSecond);
    agent.work(kSecond);
    return reply;
  }

  test::Agent& agent;
  const std::string route;
  std::unique_ptr<rdma::Device> device = test::freshDevice();
  std::unique_ptr<rdma::Domain> domain = std::move(*device->createDomain());
  std::unique_ptr<rdma::RcEndpoint> endpoint = std::move(*domain->createRc({}));
};

TEST_F(PageServerTest, PagesSayWhatCollectorsSayAboutTraces) {
  test::Application queue(*agent.pool, "queue");
  test::Application trainer(*agent.pool, "trainer", 0, 2);
  const auto said = [&] {
    return std::pair(queue.page().header.keep_one_in, trainer.page().header.keep_one_in);
  };
  using Said = std::pair<std::uint32_t, std::uint32_t>;
  queue.page().header.keep_one_in = 7;  // what an earlier agent has said
  agent.work(kSecond);
  EXPECT_EQ(said(), Said(0, 0));

  Advising one(agent, "one");
  Advising other(agent, "other");
  one.say(0);
  EXPECT_EQ(said(), Said(0, 0)) << "it does not say";
  one.say(100, {trainer.owner()->id});
  EXPECT_EQ(said(), Said(100, 1));
  other.say(50, {});
  EXPECT_EQ(said(), Said(50, 1)) << "the one that keeps the most counts";
  other.say(200, {queue.owner()->id, 4711});
  EXPECT_EQ(said(), Said(1, 1));

  EXPECT_TRUE(other.say(1, std::vector<std::uint64_t>(257, 3)).has_refused());
  EXPECT_EQ(said(), Said(1, 1));
  EXPECT_EQ(agent.server->counters().malformed, 1U);
  // A page that comes later says it too, and one that was cleared says it again.
  test::Application late(*agent.pool, "late", 0, 3);
  agent.work(2 * kSecond);
  EXPECT_EQ(late.page().header.keep_one_in, 100U);
  late.page().header.keep_one_in = 0;
  agent.work(2 * kSecond + PageServer::kAdviseAgain);
  EXPECT_EQ(late.page().header.keep_one_in, 100U);

  agent.work(kSecond + PageServer::kPatience);
  EXPECT_EQ(agent.server->readers(), 0U);
  EXPECT_EQ(said(), Said(0, 0)) << "nobody says it any more";
}

TEST_F(PageServerTest, ACollectorsKeyMayNameFurtherAddressesOfIt) {
  const auto gate = std::make_shared<net::PeerGate>(net::CurvePair::generate(), "test");
  PageServerOptions options;
  options.listen = *SocketAddress::parse("127.0.0.1:0");
  options.gate = gate;
  const auto server = std::move(*PageServer::create(options, *agent.device, *agent.pool));
  const auto device = test::freshDevice();
  const auto domain = std::move(*device->createDomain());
  const auto endpoint = std::move(*domain->createRc({}));
  const std::string bytes = connectRequest(endpoint->address());
  const net::CurveKey key = net::CurvePair::generate().public_key;
  const auto answer = [&] { return *server->answer({"route", bytes, key, "127.0.0.1"}, kSecond); };
  const IpAddress own = device->info().gid.address();

  gate->allow({{key, std::nullopt}}, {{key, {*IpAddress::parse("10.9.9.9")}}});
  EXPECT_NE(answer().refused().reason().find("authorise its key for " + own.text()),
            std::string::npos);
  EXPECT_EQ(server->counters().elsewhere, 1U);
  gate->allow({{key, std::nullopt}}, {{key, {*IpAddress::parse("10.9.9.9"), own}}});
  EXPECT_TRUE(answer().has_connected());
  server->work(kSecond);
  EXPECT_EQ(server->readers(), 1U);
  gate->allow({{key, std::nullopt}});
  server->work(kSecond);
  EXPECT_EQ(server->readers(), 0U) << "the key is authorised, but not for that address any more";

  // At the address that it connects from, an endpoint needs no address of the key.
  gate->allow({{key, std::nullopt}}, {{key, {own}}});
  const auto answer_from_there = *server->answer({"route", bytes, key, own.text()}, kSecond);
  EXPECT_TRUE(answer_from_there.has_connected());
  gate->allow({{key, std::nullopt}});
  server->work(kSecond);
  EXPECT_EQ(server->readers(), 1U);
}

// Slots are another metric's later, so nobody may go on reading by the schema from before.
TEST_F(PageServerTest, ACollectorThatDoesNotTakeARemovalIsDropped) {
  test::Application queue(*agent.pool, "queue");
  queue.define(test::RawMetric{});
  Advising follows(agent, "follows");
  Advising stays(agent, "stays");
  const std::uint64_t epoch = follows.say(0).directory().epoch();
  const auto ask = [&](Advising& reader, std::uint64_t since, Nanos now) {
    wire::PageRequest request;
    request.set_version(kPageControlVersion);
    request.mutable_directory()->set_epoch(epoch);
    request.mutable_directory()->set_since(since);
    const std::string bytes = request.SerializeAsString();
    agent.work(now);
    return agent.server->answer({reader.route, bytes, std::nullopt, ""}, now)->has_directory();
  };
  const std::uint64_t before = agent.pool->directoryVersion();
  EXPECT_TRUE(ask(follows, before, 2 * kSecond));
  EXPECT_TRUE(ask(stays, before, 2 * kSecond));
  queue.remove(test::RawMetric{});
  agent.work(3 * kSecond);
  Advising later(agent, "later", 3 * kSecond + 1);
  const Nanos end = 3 * kSecond + PageServer::kMaxBehind;
  for (Nanos now = 4 * kSecond; now < end; now += 5 * kSecond) {
    EXPECT_TRUE(ask(follows, agent.pool->directoryVersion(), now));
    EXPECT_TRUE(ask(stays, before, now)) << "it keeps asking";
  }
  agent.work(end - 1);
  EXPECT_EQ(agent.server->readers(), 3U);
  agent.work(end);
  EXPECT_EQ(agent.server->readers(), 2U);
  EXPECT_FALSE(ask(stays, agent.pool->directoryVersion(), end));
  EXPECT_TRUE(ask(follows, agent.pool->directoryVersion(), end));
  EXPECT_TRUE(ask(later, 0, end)) << "it has connected since, so it was given what is left";
  EXPECT_GE(PageSchema::kRest, PageServer::kMaxBehind + 3 * kSecond);
}

}  // namespace
}  // namespace pingloom::pages::page_server_test
