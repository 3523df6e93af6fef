#include "collector/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "http/server.h"
#include "unit/eventually.h"

namespace pingloom::collector::discovery_test {
namespace {

TEST(AgentsOf, ThoseThatServePages) {
  const auto agents = agentsOf(
      R"({"hosts": [{"pages": "10.0.0.2:20714"}, {"pages": null}, {}, 7,
                    {"pages": "10.0.0.1:20714"}, {"pages": "nonsense"}]})",
      10);
  ASSERT_TRUE(agents);
  ASSERT_EQ(agents->size(), 2U);
  EXPECT_EQ((*agents)[0].agent, "10.0.0.1:20714");
  EXPECT_FALSE((*agents)[0].key);
  EXPECT_FALSE(agentsOf("[]", 10));
  EXPECT_FALSE(agentsOf("{", 10));
}

TEST(AgentsOf, OfOneAddressTheHostThatIsThereCounts) {
  const std::string old_key(40, 'A'), new_key(40, 'B');
  for (const bool old_first : {true, false}) {
    const std::string gone =
        R"({"pages": "10.0.0.1:20714", "alive": false, "public_key": ")" + old_key + "\"}";
    const std::string there =
        R"({"pages": "10.0.0.1:20714", "alive": true, "public_key": ")" + new_key + "\"}";
    const std::string list = old_first ? gone + "," + there : there + "," + gone;
    const auto agents = agentsOf("{\"hosts\": [" + list + "]}", 10);
    ASSERT_TRUE(agents);
    ASSERT_EQ(agents->size(), 1U);
    ASSERT_TRUE(agents->front().key);
    EXPECT_EQ(agents->front().key->text(), new_key);
  }
}

TEST(Discovery, RegistersWithTheControllerThatItAsks) {
  std::mutex mutex;
  std::vector<std::string> bodies;
  http::ServerOptions options;
  options.listen = {IpAddress::fromV4(0x7f000001), 0};
  const auto server = *http::Server::start(options, [&](const http::Request& request) {
    http::Response response;
    response.body = R"({"hosts": []})";
    if (request.path == "/api/v1/collectors") {
      const std::lock_guard lock(mutex);
      bodies.push_back(request.method + " " + request.content_type + " " + request.body);
      response = http::errorResponse(400, "not today");  // which changes nothing else
    }
    return response;
  });
  Discovery discovery({{"http://" + server->address().text(), "", {}}}, {},
                      {"dpu-1", "http://0.0.0.0:20715"}, [](const auto&) {});
  ASSERT_TRUE(test::eventually([&] {
    const std::lock_guard lock(mutex);
    return !bodies.empty();
  }));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(bodies.front(),
            R"(POST application/json {"name":"dpu-1","url":"http://0.0.0.0:20715"})");
}

// A controller that counts registrations.
struct FakeController {
  explicit FakeController(std::uint16_t port = 0) {
    http::ServerOptions options;
    options.listen = {IpAddress::fromV4(0x7f000001), port};
    server = *http::Server::start(options, [this](const http::Request& request) {
      http::Response response;
      response.body = R"({"hosts": [{"pages": "10.0.0.1:20714", "alive": true}]})";
      if (request.path != "/api/v1/collectors") return response;
      ++registrations;
      return refuses ? http::errorResponse(400, "not this one") : response;
    });
  }
  http::Site site() const { return {"http://" + server->address().text(), "", {}}; }

  std::atomic<int> registrations = 0;
  std::atomic<bool> refuses = false;
  std::unique_ptr<http::Server> server;
};

TEST(Discovery, GoesToTheNextControllerIfOneEndsAndStaysThere) {
  auto first = std::make_unique<FakeController>();
  FakeController second;
  std::atomic<int> found = 0;
  Discovery discovery(
      {first->site(), second.site()}, {}, {"dpu-1", "http://0.0.0.0:1"},
      [&](const auto&) { ++found; }, 20 * kMillisecond);
  ASSERT_TRUE(test::eventually([&] { return first->registrations > 2; }));
  EXPECT_EQ(second.registrations, 0) << "the first one answers";
  const std::uint16_t port = first->server->address().port;
  first.reset();
  ASSERT_TRUE(test::eventually([&] { return second.registrations > 2; }));
  const FakeController again(port);
  const int before = second.registrations;
  ASSERT_TRUE(test::eventually([&] { return second.registrations > before + 3; }));
  EXPECT_EQ(again.registrations, 0) << "the second one still answers";
  EXPECT_EQ(found, 1) << "the agents are the same";
}

TEST(Discovery, RegistersWithTheNextControllerIfOneRefuses) {
  FakeController first, second, third;
  first.refuses = true;
  Discovery discovery(
      {first.site(), second.site(), third.site()}, {}, {"dpu-1", "http://0.0.0.0:1"},
      [](const auto&) {}, 20 * kMillisecond);
  ASSERT_TRUE(test::eventually([&] { return second.registrations > 2; }));
  EXPECT_GT(first.registrations, 2) << "it is asked first, in case it has room again";
  EXPECT_EQ(third.registrations, 0);
}

TEST(Discovery, TriesAgainAfterNobodyHasAnswered) {
  auto controller = std::make_unique<FakeController>();
  const http::Site site = controller->site();
  const std::uint16_t port = controller->server->address().port;
  controller.reset();
  Discovery discovery(
      {site, {"http://127.0.0.1:1", "", {}}}, {}, {"dpu-1", "http://0.0.0.0:1"}, [](const auto&) {},
      20 * kMillisecond);
  const FakeController started(port);
  EXPECT_TRUE(test::eventually([&] { return started.registrations > 1; }));
}

}  // namespace
}  // namespace pingloom::collector::discovery_test
