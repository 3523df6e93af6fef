// How an agent's client moves among several controllers.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/control_client.h"
#include "control_client_fixture.h"

namespace pingloom::agent::control_client_homes_test {
namespace {

class ControlClientHomesTest : public ControlClientTest {};

wire::ControllerMessage redirectTo(const std::string& controller) {
  wire::ControllerMessage message;
  message.mutable_redirect()->set_controller(controller);
  return message;
}

TEST_F(ControlClientHomesTest, GoesWhereItIsSentAndTakesItsBatchesAlong) {
  start();
  const auto first = expect(Body::kRegistration);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->body.registration().follows());
  auto home = std::make_unique<ScriptedRouter>();
  answer(redirectTo(home->address()));
  ASSERT_TRUE(flow([&] { return client->counters().redirects == 1; }));
  std::swap(router, home);
  registerClient(kIncarnation, 1);
  EXPECT_EQ(client->controller(), router->address());
  batches.add({kIncarnation, 2});
  EXPECT_EQ(takeBatches(1), std::vector<std::uint64_t>{2});
  // Later it may be sent elsewhere from a registration that stands.
  answer(redirectTo(home->address()));
  std::swap(router, home);
  registerClient(kIncarnation, 1);
  EXPECT_EQ(takeBatches(1), std::vector<std::uint64_t>{2}) << "it was not acknowledged";
}

TEST_F(ControlClientHomesTest, RedirectsThatMakeNoSenseAreDeclined) {
  start();
  ASSERT_TRUE(expect(Body::kRegistration));
  const std::vector<std::string> wrong = {"a b", ":1", std::string(400, 'a'), "0.0.0.0:1",
                                          "[::]:1"};
  for (std::uint64_t i = 0; i < wrong.size(); ++i) {
    answer(redirectTo(wrong[i]));
    ASSERT_TRUE(flow([&] { return client->counters().bad_messages == i + 1; })) << wrong[i];
    now += kSecond;
    const auto asked = expect(Body::kRegistration);
    ASSERT_TRUE(asked);
    EXPECT_FALSE(asked->body.registration().follows()) << wrong[i];
  }
  answer(redirectTo(router->address()));
  ASSERT_TRUE(flow([&] { return client->counters().unexpected_messages == 1; }));
  now += kSecond;
  const auto asked = expect(Body::kRegistration);
  ASSERT_TRUE(asked);
  EXPECT_FALSE(asked->body.registration().follows());
}

TEST_F(ControlClientHomesTest, StaysWhereControllersDoNotAgree) {
  start();
  auto other = std::make_unique<ScriptedRouter>();
  for (int i = 0; i < ControllerChoice::kMaxRedirects; ++i) {
    const auto asked = expect(Body::kRegistration);
    ASSERT_TRUE(asked);
    EXPECT_TRUE(asked->body.registration().follows());
    answer(redirectTo(other->address()));
    ASSERT_TRUE(flow([&] { return client->counters().redirects == std::uint64_t(i) + 1; }));
    std::swap(router, other);
  }
  const auto last = expect(Body::kRegistration);
  ASSERT_TRUE(last);
  EXPECT_FALSE(last->body.registration().follows());
}

TEST_F(ControlClientHomesTest, GoesOnToAnotherControllerWhenOneIsGone) {
  auto other = std::make_unique<ScriptedRouter>();
  ControlOptions options;
  options.controllers = {router->address(), other->address()};
  options.host = "gpu-001";
  options.incarnation = kIncarnation;
  client = std::make_unique<ControlClient>(context, std::move(options), batches, owner);
  ASSERT_TRUE(client->start(now, nullptr));
  if (client->controller() != router->address()) std::swap(router, other);
  registerClient();
  router.reset();
  ASSERT_TRUE(flow([&] { return client->state() == ControlClient::State::kConnecting; }));
  router = std::move(other);
  now += ControllerChoice::kPatience + ControllerChoice::kSpread;
  registerClient();
  EXPECT_EQ(client->controller(), router->address());
}

}  // namespace
}  // namespace pingloom::agent::control_client_homes_test
