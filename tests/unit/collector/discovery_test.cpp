#include "collector/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  Discovery discovery({"http://" + server->address().text(), "", {}}, {},
                      {"dpu-1", "http://0.0.0.0:20715"}, [](const auto&) {});
  ASSERT_TRUE(test::eventually([&] {
    const std::lock_guard lock(mutex);
    return !bodies.empty();
  }));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(bodies.front(),
            R"(POST application/json {"name":"dpu-1","url":"http://0.0.0.0:20715"})");
}

}  // namespace
}  // namespace pingloom::collector::discovery_test
