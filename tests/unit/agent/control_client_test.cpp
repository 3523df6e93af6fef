#include "agent/control_client.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "control_client_fixture.h"
#include "unit/eventually.h"

namespace pingloom::agent::control_client_test {
namespace {

TEST_F(ControlClientTest, RegistersAndSendsHeartbeats) {
  start(std::make_shared<const plan::Plan>(planOf({"10.0.0.1"})));
  const auto first = expect(Body::kRegistration);
  ASSERT_TRUE(first);
  const wire::Register& body = first->body.registration();
  EXPECT_EQ(body.control_version(), 1U);
  EXPECT_EQ(body.host(), "gpu-001");
  EXPECT_EQ(body.incarnation(), kIncarnation);
  ASSERT_EQ(body.addresses_size(), 2);
  EXPECT_EQ(IpAddress::fromWire(body.addresses(1))->text(), "fd00::1");
  EXPECT_EQ(body.port(), 20710U);
  EXPECT_EQ(body.plan_hash(), plan::hash(planOf({"10.0.0.1"})));
  answer(registeredMessage());
  const auto heartbeat = expect(Body::kHeartbeat);
  ASSERT_TRUE(heartbeat);
  EXPECT_EQ(heartbeat->body.heartbeat().agent_mono_ns(), now);
  EXPECT_EQ(heartbeat->body.heartbeat().status().pings_sent(), 1234U);
  EXPECT_EQ(client->deadline(), now + kSecond);

  answer(replyMessage(now, now + 5 * kHour));
  now += kMillisecond;
  ASSERT_TRUE(flow([&] { return owner.offset.has_value(); }));
  EXPECT_EQ(*owner.offset, 5 * kHour - kMillisecond / 2);
  now += kSecond;
  EXPECT_EQ(expect(Body::kHeartbeat)->body.heartbeat().agent_mono_ns(), now);
}

TEST_F(ControlClientTest, OwnersOfPagesAreToldWhenTheyHaveChanged) {
  const auto told = [&]() -> std::optional<wire::PageOwners> {
    const auto heartbeat = expect(Body::kHeartbeat);
    const wire::AgentStatus& status = heartbeat->body.heartbeat().status();
    answer(replyMessage(now, kHour));
    now += kSecond;
    return status.has_page_owners() ? std::optional(status.page_owners()) : std::nullopt;
  };
  start();
  registerClient();
  EXPECT_FALSE(told()) << "no pages are served";
  owner.page_owners =
      std::make_shared<const PageOwners>(PageOwners{{{"queue", 41, 1000, 2, 30}}, 7});
  const auto first = told();
  ASSERT_TRUE(first && first->owners_size() == 1);
  EXPECT_EQ(first->owners(0).application(), "queue");
  EXPECT_EQ(first->owners(0).process(), 41U);
  EXPECT_EQ(first->owners(0).user(), 1000U);
  EXPECT_EQ(first->owners(0).pages(), 2U);
  EXPECT_EQ(first->owners(0).metrics(), 30U);
  EXPECT_EQ(first->left_out(), 7U);
  EXPECT_FALSE(told()) << "nothing has changed";
  wire::ControllerMessage refused;
  refused.mutable_refused()->set_reason(wire::Refused::NOT_REGISTERED);
  answer(refused);
  registerClient();
  EXPECT_TRUE(told()) << "another controller, maybe";
  owner.page_owners = std::make_shared<const PageOwners>();
  const auto none = told();
  ASSERT_TRUE(none);
  EXPECT_EQ(none->owners_size(), 0);
  EXPECT_FALSE(told());
}

TEST_F(ControlClientTest, TellsCountersWhenTheyMoveAndAllAfterARegistration) {
  const CounterId symbol = counterNamed(CounterOrigin::kPort, "symbol_error_total").value();
  const CounterId downed = counterNamed(CounterOrigin::kPort, "link_downed_total").value();
  const auto told = [&]() -> std::optional<wire::CounterUpdate> {
    const auto heartbeat = expect(Body::kHeartbeat);
    if (!heartbeat) return std::nullopt;
    const wire::AgentStatus& status = heartbeat->body.heartbeat().status();
    answer(replyMessage(now, kHour));
    now += kSecond;
    return status.has_counters() ? std::optional(status.counters()) : std::nullopt;
  };
  const auto count = [&](std::uint64_t symbols) {
    owner.counters =
        std::make_shared<const NicPorts>(NicPorts{{"mlx5_0", 1, {{symbol, symbols}, {downed, 1}}}});
  };
  start();
  registerClient();
  EXPECT_FALSE(told()) << "they have not been read yet";
  count(7);
  const auto first = told();
  ASSERT_TRUE(first && first->complete() && first->ports_size() == 1);
  EXPECT_EQ(first->ports(0).counters_size(), 2);
  EXPECT_FALSE(told()) << "none has moved";
  count(9);
  const auto moved = told();
  ASSERT_TRUE(moved && moved->ports_size() == 1 && moved->ports(0).counters_size() == 1);
  EXPECT_FALSE(moved->complete());
  EXPECT_EQ(moved->ports(0).counters(0).name(), "symbol_error_total");
  EXPECT_EQ(moved->ports(0).counters(0).value(), 9U);
  wire::ControllerMessage refused;
  refused.mutable_refused()->set_reason(wire::Refused::NOT_REGISTERED);
  answer(refused);
  registerClient();
  const auto again = told();
  ASSERT_TRUE(again && again->complete());
  EXPECT_EQ(again->ports(0).counters_size(), 2);
}

TEST_F(ControlClientTest, IsRefusedAndTriesAgainEverySecond) {
  start();
  ASSERT_TRUE(expect(Body::kRegistration));
  for (int i = 1; i <= 3; ++i) {
    answer(refusedMessage(wire::Refused::DUPLICATE_HOST));
    ASSERT_TRUE(flow([&] { return client->state() == ControlClient::State::kRefused; }));
    EXPECT_EQ(client->counters().refusals, static_cast<std::uint64_t>(i));
    EXPECT_EQ(client->deadline(), now + kSecond);
    now += kSecond;
    ASSERT_TRUE(expect(Body::kRegistration));
  }
  answer(registeredMessage());
  ASSERT_TRUE(expect(Body::kHeartbeat));
}

TEST_F(ControlClientTest, ARestartedControllerIsRegisteredWithAgain) {
  batches.add({kIncarnation, 1});
  start();
  registerClient();
  takeBatches(1);
  const std::uint16_t port = router->port();
  router.reset();
  ASSERT_TRUE(flow([&] { return client->state() == ControlClient::State::kConnecting; }));
  EXPECT_EQ(client->counters().connections_lost, 1U);
  batches.add({kIncarnation, 2});
  router = std::make_unique<ScriptedRouter>(port);
  registerClient(kIncarnation, 1);
  EXPECT_EQ(takeBatches(1), (std::vector<std::uint64_t>{2})) << "1 was committed";
}

TEST_F(ControlClientTest, AControllerThatForgotUsIsRegisteredWithAgainOnce) {
  start();
  registerClient();
  ASSERT_TRUE(expect(Body::kHeartbeat));
  for (std::uint64_t i = 1; i <= 3; ++i) batches.add({kIncarnation, i});
  takeBatches(3);
  now += 2 * kSecond;
  for (int i = 0; i < 3; ++i) answer(refusedMessage(wire::Refused::NOT_REGISTERED));
  registerClient();
  EXPECT_EQ(takeBatches(1), (std::vector<std::uint64_t>{1}));
  answer(ackMessage(kIncarnation, 1));
  EXPECT_EQ(takeBatches(2), (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(client->counters().registrations, 2U);
  answer(refusedMessage(wire::Refused::NOT_REGISTERED));
  ASSERT_TRUE(flow([&] { return client->state() == ControlClient::State::kRefused; }))
      << "at most one registration a second";
  now += kSecond;
  registerClient();
}

TEST_F(ControlClientTest, ASilentControllerIsLeftAndConnectedToAnew) {
  start();
  registerClient();
  const auto heartbeat = expect(Body::kHeartbeat);
  for (Nanos silent = kSecond; silent < ControlClient::kSilence; silent += kSecond) {
    now += kSecond;
    ASSERT_TRUE(expect(Body::kHeartbeat));
    EXPECT_EQ(client->state(), ControlClient::State::kRegistered);
  }
  now += kSecond;
  client->run(now);
  EXPECT_EQ(client->state(), ControlClient::State::kConnecting);
  const auto again = expect(Body::kRegistration);
  ASSERT_TRUE(again);
  EXPECT_NE(again->from, heartbeat->from) << "a connection of its own";
  answer(registeredMessage());
  ASSERT_TRUE(expect(Body::kHeartbeat));
}

TEST_F(ControlClientTest, AnUnansweredRegistrationIsSentAgain) {
  start();
  ASSERT_TRUE(expect(Body::kRegistration));
  EXPECT_EQ(client->deadline(), now + ControlClient::kSilence);
  now += ControlClient::kSilence;
  registerClient();
}

TEST_F(ControlClientTest, OwnSleepIsNotTheControllersSilence) {
  start();
  registerClient();
  ASSERT_TRUE(expect(Body::kHeartbeat));
  answer(replyMessage(now, kHour));
  ASSERT_TRUE(flow([&] { return owner.offset.has_value(); }));
  now += kMinute;
  ASSERT_TRUE(expect(Body::kHeartbeat));
  EXPECT_EQ(client->state(), ControlClient::State::kRegistered);
  EXPECT_EQ(client->counters().connections_lost, 0U);
}

TEST_F(ControlClientTest, TakesPlansCompleteAndAsDifferences) {
  start();
  registerClient();
  ASSERT_TRUE(expect(Body::kHeartbeat));
  const plan::Plan first = planOf({"10.0.0.1", "10.0.0.2"});
  const plan::Plan second = planOf({"10.0.0.1", "10.0.0.3"});
  wire::ControllerMessage message;
  *message.mutable_plan() = plan::encode(first, nullptr);
  answer(message);
  ASSERT_TRUE(flow([&] { return owner.plans.size() == 1; }));
  EXPECT_EQ(expect(Body::kHeartbeat)->body.heartbeat().plan_hash(), plan::hash(first))
      << "the controller is told at once";
  *message.mutable_plan() = plan::encode(second, &first);
  answer(message);
  ASSERT_TRUE(flow([&] { return owner.plans.size() == 2; }));
  EXPECT_EQ(plan::hash(*owner.plans[1]), plan::hash(second));
  EXPECT_EQ(client->planHash(), plan::hash(second));
}

TEST_F(ControlClientTest, APlanThatComesAgainIsConfirmedAgain) {
  start();
  registerClient();
  ASSERT_TRUE(expect(Body::kHeartbeat));
  const plan::Plan first = planOf({"10.0.0.1", "10.0.0.2"});
  const plan::Plan second = planOf({"10.0.0.1", "10.0.0.3"});
  wire::ControllerMessage message;
  *message.mutable_plan() = plan::encode(first, nullptr);
  answer(message);
  ASSERT_TRUE(expect(Body::kHeartbeat));
  *message.mutable_plan() = plan::encode(second, &first);
  answer(message);
  ASSERT_TRUE(expect(Body::kHeartbeat));
  answer(message);
  const auto confirmed = expect(Body::kHeartbeat);
  ASSERT_TRUE(confirmed);
  EXPECT_EQ(confirmed->body.heartbeat().plan_hash(), plan::hash(second));
  EXPECT_EQ(client->counters().plans_refused, 0U);
  EXPECT_EQ(owner.plans.size(), 2U);
}

TEST_F(ControlClientTest, APlanThatDoesNotFitIsAskedForWhole) {
  const plan::Plan mine = planOf({"10.0.0.1"});
  start(std::make_shared<const plan::Plan>(mine));
  registerClient();
  const plan::Plan other = planOf({"10.0.0.1", "10.0.0.2"});
  const plan::Plan target = planOf({"10.0.0.1", "10.0.0.4"});
  wire::ControllerMessage message;
  *message.mutable_plan() = plan::encode(target, &other);
  answer(message);
  ASSERT_TRUE(flow([&] { return client->counters().plans_refused == 1; }));
  now += kSecond;
  const auto again = expect(Body::kRegistration);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->body.registration().plan_hash(), 0U);
  EXPECT_TRUE(owner.plans.empty()) << "the plan in force stays";
  answer(registeredMessage());
  *message.mutable_plan() = plan::encode(target, nullptr);
  answer(message);
  ASSERT_TRUE(flow([&] { return owner.plans.size() == 1; }));
}

TEST_F(ControlClientTest, GarbageIsCountedAndSurvived) {
  start();
  registerClient();
  ASSERT_TRUE(expect(Body::kHeartbeat));
  router->sendRaw(peer, "");
  router->sendRaw(peer, std::string(1000, '\xff'));
  router->sendRaw(peer, replyMessage(now, 1).SerializeAsString(), true);  // several frames
  answer(replyMessage(now + kHour, 1));                                   // from the future
  answer(replyMessage(now - kHour, 1));
  answer(replyMessage(now, -1));
  answer(registeredMessage());  // nobody asked
  ASSERT_TRUE(flow([&] {
    return client->counters().bad_messages == 3 && client->counters().unexpected_messages == 4;
  })) << client->counters().bad_messages
      << " " << client->counters().unexpected_messages;
  EXPECT_FALSE(owner.offset);
  EXPECT_EQ(client->state(), ControlClient::State::kRegistered);
  answer(replyMessage(now, kHour));
  ASSERT_TRUE(flow([&] { return owner.offset.has_value(); }));
}

TEST_F(ControlClientTest, GoesOnAboveALaterIncarnation) {
  start();
  ASSERT_TRUE(expect(Body::kRegistration));
  answer(registeredMessage(kIncarnation + 1, 3));
  ASSERT_TRUE(flow([&] { return client->state() == ControlClient::State::kRefused; }));
  now += kSecond;
  const auto again = expect(Body::kRegistration);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->body.registration().incarnation(), kIncarnation + 6);
}

TEST_F(ControlClientTest, ChangedAddressesAreRegistered) {
  start();
  registerClient();
  now += ControlClient::kRegisterPause;
  client->setAddresses({*IpAddress::parse("10.0.0.7")}, now);
  const auto again = expect(Body::kRegistration);
  ASSERT_TRUE(again);
  ASSERT_EQ(again->body.registration().addresses_size(), 1);
  answer(registeredMessage());
  ASSERT_TRUE(flow([&] { return client->state() == ControlClient::State::kRegistered; }));
}

plan::Endpoint endpointOf(const char* address, std::uint32_t qpn) {
  plan::Endpoint made;
  made.address = *IpAddress::parse(address);
  made.gid[15] = 1;
  made.qpn = qpn;
  made.device = "soft";
  return made;
}

wire::ControllerMessage endpointsMessage(std::uint64_t version, std::uint64_t base,
                                         const plan::Endpoint& changed) {
  wire::ControllerMessage message;
  wire::EndpointUpdate& update = *message.mutable_endpoints();
  update.set_controller(9);
  update.set_version(version);
  update.set_base_version(base);
  plan::encode(changed, *update.add_changed());
  return message;
}

TEST_F(ControlClientTest, RegistersItsEndpointsAndAgainWhenTheyChange) {
  owner.own = {endpointOf("10.0.0.1", 17)};
  start();
  const auto first = expect(Body::kRegistration);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->body.registration().endpoints_size(), 1);
  EXPECT_EQ(first->body.registration().endpoints(0).qpn(), 17U);
  EXPECT_EQ(first->body.registration().endpoints_controller(), 0U) << "it holds no table";
  owner.own = {endpointOf("10.0.0.1", 18)};
  client->endpointsChanged(now);
  answer(registeredMessage());
  ASSERT_TRUE(expect(Body::kHeartbeat));
  EXPECT_EQ(client->deadline(), now + ControlClient::kRegisterPause) << "it changed meanwhile";
  now += ControlClient::kRegisterPause;
  const auto second = expect(Body::kRegistration);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->from, first->from) << "on the same connection";
  EXPECT_EQ(second->body.registration().endpoints(0).qpn(), 18U);
  EXPECT_EQ(second->body.registration().incarnation(), kIncarnation);
  answer(registeredMessage());
  ASSERT_TRUE(flow([&] { return client->state() == ControlClient::State::kRegistered; }));
  for (int i = 0; i < 10; ++i) client->endpointsChanged(now);
  EXPECT_EQ(client->state(), ControlClient::State::kRegistered) << "a storm of them is one";
  now += ControlClient::kRegisterPause;
  ASSERT_TRUE(expect(Body::kRegistration));
  EXPECT_TRUE(arrived.empty());
}

TEST_F(ControlClientTest, TakesEndpointsAndNamesThemWhenItRegistersAgain) {
  start();
  registerClient();
  ASSERT_TRUE(expect(Body::kHeartbeat));
  answer(endpointsMessage(4, 0, endpointOf("10.0.0.2", 20)));
  wire::ControllerMessage second = endpointsMessage(5, 4, endpointOf("10.0.0.3", 30));
  second.mutable_endpoints()->set_scope(77);
  answer(second);
  ASSERT_TRUE(flow([&] { return client->counters().endpoint_updates_taken == 2; }));
  EXPECT_EQ(owner.held.table->size(), 2U);
  now += kSecond;
  client->endpointsChanged(now);
  const auto again = expect(Body::kRegistration);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->body.registration().endpoints_controller(), 9U);
  EXPECT_EQ(again->body.registration().endpoints_version(), 5U);
  EXPECT_EQ(again->body.registration().endpoints_scope(), 77U);
  answer(endpointsMessage(6, 5, endpointOf("10.0.0.3", 31)));
  ASSERT_TRUE(flow([&] { return client->counters().unexpected_messages == 1; }))
      << "it comes again after the registration";
}

TEST_F(ControlClientTest, EndpointsThatDoNotFitAreAskedForWhole) {
  start();
  registerClient();
  ASSERT_TRUE(expect(Body::kHeartbeat));
  answer(endpointsMessage(4, 0, endpointOf("10.0.0.2", 20)));
  answer(endpointsMessage(9, 8, endpointOf("10.0.0.3", 30)));
  ASSERT_TRUE(flow([&] { return client->counters().endpoint_updates_refused == 1; }));
  EXPECT_EQ(owner.held.version.number, 4U) << "the table in force stays";
  now += kSecond;
  const auto again = expect(Body::kRegistration);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->body.registration().endpoints_controller(), 9U);
  EXPECT_EQ(again->body.registration().endpoints_version(), 0U) << "but cannot be named";
  answer(registeredMessage());
  answer(endpointsMessage(9, 0, endpointOf("10.0.0.3", 30)));
  ASSERT_TRUE(flow([&] { return owner.held.version.number == 9; }));
}

TEST_F(ControlClientTest, SaysGoodbye) {
  start();
  registerClient();
  ASSERT_TRUE(expect(Body::kHeartbeat));
  client->goodbye();
  EXPECT_EQ(client->state(), ControlClient::State::kClosed);
  ASSERT_TRUE(expect(Body::kGoodbye));
}

TEST_F(ControlClientTest, ManyClientsShareOneThread) {
  constexpr std::size_t kClients = 50;
  net::ZmqContext shared(kClients + 1);
  std::vector<std::unique_ptr<ControlClient>> clients;
  for (std::size_t i = 0; i < kClients; ++i) {
    ControlOptions options;
    options.controllers = {router->address()};
    options.host = "host-" + std::to_string(i);
    options.incarnation = 1;
    clients.push_back(std::make_unique<ControlClient>(shared, options, batches, owner));
    ASSERT_TRUE(clients.back()->start(now, nullptr));
  }
  const auto all_registered = [&] {
    return std::all_of(clients.begin(), clients.end(), [](const auto& one) {
      return one->state() == ControlClient::State::kRegistered;
    });
  };
  EXPECT_TRUE(test::eventually(all_registered, [&] {
    std::vector<pollfd> descriptors = {{router->descriptor(), POLLIN, 0}};
    for (const auto& one : clients) descriptors.push_back({one->descriptor(), POLLIN, 0});
    ::poll(descriptors.data(), descriptors.size(), 20);
    for (const auto& one : clients) one->run(now);
    while (auto message = router->receive()) {
      if (message->body.has_registration()) router->send(message->from, registeredMessage());
    }
  }));
}

TEST_F(ControlClientTest, TakesCollectorsWithTheirAddresses) {
  start();
  registerClient();
  const net::CurveKey first = net::CurvePair::generate().public_key;
  const net::CurveKey second = net::CurvePair::generate().public_key;
  wire::ControllerMessage message;
  wire::CollectorKeys& told = *message.mutable_collectors();
  told.add_keys(first.wire());
  told.add_keys(second.wire());
  wire::CollectorAddresses& places = *told.add_addresses();
  places.set_key(second.wire());
  places.add_addresses(IpAddress::parse("10.1.0.9")->wire());
  answer(message);
  ASSERT_TRUE(flow([&] { return owner.collectors.size() == 2; }));
  EXPECT_TRUE(owner.collectors[0].key == first && owner.collectors[1].key == second);
  EXPECT_TRUE(owner.collectors[0].addresses.empty());
  EXPECT_EQ(owner.collectors[1].addresses, std::vector{*IpAddress::parse("10.1.0.9")});
  for (int i = 0; i < 64; ++i) places.add_addresses(IpAddress::parse("10.1.0.9")->wire());
  answer(message);
  ASSERT_TRUE(flow([&] { return client->counters().bad_messages == 1; })) << "65 addresses";
}

TEST_F(ControlClientTest, TakesOrdersForBurstsAndReports) {
  start();
  const auto registration = expect(Body::kRegistration);
  ASSERT_TRUE(registration);
  wire::ControllerMessage order;
  order.mutable_burst()->set_id(3);
  answer(order);
  ASSERT_TRUE(flow([&] { return client->counters().unexpected_messages == 1; }))
      << "not before it is registered";
  wire::BurstReport report;
  report.set_id(3);
  client->send(report);
  answer(registeredMessage());
  ASSERT_TRUE(expect(Body::kHeartbeat));
  EXPECT_TRUE(arrived.empty()) << "the report was dropped";
  answer(order);
  ASSERT_TRUE(flow([&] { return owner.orders.size() == 1; }));
  EXPECT_EQ(owner.orders[0].id(), 3U);
  client->send(report);
  const auto message = expect(Body::kBurst);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->body.burst().id(), 3U);
}

}  // namespace
}  // namespace pingloom::agent::control_client_test
