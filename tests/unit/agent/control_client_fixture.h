// The control client on a virtual clock against a scripted controller.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/control_client.h"
#include "plan/plan_codec.h"
#include "scripted_router.h"
#include "unit/eventually.h"

namespace pingloom::agent {

constexpr std::uint64_t kIncarnation = 70;

inline plan::Plan planOf(std::initializer_list<const char*> addresses) {
  plan::Plan plan;
  plan::ProbeSpec probe;
  probe.name = "mesh";
  probe.sources = probe.destinations = "mesh";
  plan.probes = {probe};
  plan::AddressList list;
  for (const char* text : addresses) list.push_back(*IpAddress::parse(text));
  plan.lists["mesh"] = std::make_shared<const plan::AddressList>(std::move(list));
  return plan;
}

class MemoryBatches : public BatchSource {
 public:
  void add(wire::BatchId id) {
    wire::Batch batch;
    batch.set_incarnation(id.incarnation);
    batch.set_sequence(id.sequence);
    waiting_.push_back({id, batch.SerializeAsString()});
    newest_ = id;
  }
  std::optional<StoredBatch> next(wire::BatchId after) override {
    for (const StoredBatch& batch : waiting_) {
      if (batch.id > after) return batch;
    }
    return std::nullopt;
  }
  void acknowledge(wire::BatchId up_to) override {
    while (!waiting_.empty() && waiting_.front().id <= up_to) waiting_.pop_front();
  }
  wire::BatchId newest() const override { return newest_; }
  std::size_t size() const { return waiting_.size(); }

 private:
  std::deque<StoredBatch> waiting_;
  wire::BatchId newest_;
};

class Owner : public ControlOwner {
 public:
  void planChanged(std::shared_ptr<const plan::Plan> plan) override {
    plans.push_back(std::move(plan));
  }
  void clockOffsetChanged(Nanos new_offset) override {
    offset = new_offset;
    ++replies;
  }
  AgentTotals totals() override {
    AgentTotals totals;
    totals.pings_sent = 1234;
    return totals;
  }
  std::shared_ptr<const PageOwners> pageOwners() override { return page_owners; }
  std::shared_ptr<const NicPorts> nicCounters() override { return counters; }
  std::uint64_t laterIncarnation(std::uint64_t committed) override { return committed + 5; }
  std::vector<plan::Endpoint> endpoints() override { return own; }
  plan::EndpointVersion heldEndpoints() override { return held.version; }
  std::vector<IpAddress> rdmaAddresses() override { return rdma_addresses; }
  Status endpointsPushed(const wire::EndpointUpdate& update) override {
    auto next = plan::apply(update, held);
    if (!next) return tl::unexpected(next.error());
    held = std::move(*next);
    return {};
  }

  void burstOrdered(const wire::BurstOrder& order) override { orders.push_back(order); }
  void collectorsAuthorized(std::vector<AuthorizedCollector> authorized) override {
    collectors = std::move(authorized);
  }

  std::vector<std::shared_ptr<const plan::Plan>> plans;
  std::vector<wire::BurstOrder> orders;
  std::vector<AuthorizedCollector> collectors;
  std::shared_ptr<const PageOwners> page_owners;
  std::vector<IpAddress> rdma_addresses;
  std::shared_ptr<const NicPorts> counters;
  std::optional<Nanos> offset;
  int replies = 0;  // to heartbeats, each with the controller's clock
  std::vector<plan::Endpoint> own;
  plan::HeldEndpoints held;
};

// The client on a virtual clock, the sockets real: what arrives is waited for, time is not.
class ControlClientTest : public testing::Test {
 protected:
  using Body = wire::AgentMessage::BodyCase;

  void start(std::shared_ptr<const plan::Plan> kept = nullptr) {
    ControlOptions options;
    options.controllers = {router->address()};
    options.host = "gpu-001";
    options.incarnation = kIncarnation;
    options.addresses = {*IpAddress::parse("10.0.0.1"), *IpAddress::parse("fd00::1")};
    options.port = 20710;
    options.software_version = "0.1.0";
    client = std::make_unique<ControlClient>(context, std::move(options), batches, owner);
    ASSERT_TRUE(client->start(now, std::move(kept)));
  }

  // Lets messages flow, at one moment of the virtual clock, until `done`.
  bool flow(const std::function<bool()>& done) {
    return test::eventually(
        [&] {
          client->run(now);
          while (router) {
            auto message = router->receive();
            if (!message) break;
            arrived.push_back(std::move(*message));
          }
          return done();
        },
        [&] {
          if (client->deadline() <= now) return;
          std::array<pollfd, 2> descriptors = {
              {{client->descriptor(), POLLIN, 0}, {router ? router->descriptor() : -1, POLLIN, 0}}};
          ::poll(descriptors.data(), descriptors.size(), 20);
        });
  }

  std::optional<ScriptedRouter::Message> expect(Body body) {
    std::optional<ScriptedRouter::Message> found;
    flow([&] {
      while (!arrived.empty() && !found) {
        if (arrived.front().body.body_case() == body) found = std::move(arrived.front());
        arrived.pop_front();
      }
      return found.has_value();
    });
    EXPECT_TRUE(found) << "no message of kind " << body;
    if (found) peer = found->from;
    return found;
  }

  void answer(const wire::ControllerMessage& message) { router->send(peer, message); }

  void registerClient(std::uint64_t incarnation = 0, std::uint64_t sequence = 0) {
    ASSERT_TRUE(expect(Body::kRegistration));
    answer(registeredMessage(incarnation, sequence));
    ASSERT_TRUE(flow([&] { return client->state() == ControlClient::State::kRegistered; }));
  }

  // While the controller does not answer, heartbeats go on and keep the connection.
  void passSeconds(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      now += kSecond;
      ASSERT_TRUE(expect(Body::kHeartbeat));
      const int before = owner.replies;
      answer(replyMessage(now, kHour));
      ASSERT_TRUE(flow([&] { return owner.replies > before; }));
    }
  }

  std::vector<std::uint64_t> takeBatches(std::size_t count) {
    std::vector<std::uint64_t> sequences;
    for (std::size_t i = 0; i < count; ++i) {
      const auto message = expect(Body::kBatch);
      if (!message) break;
      sequences.push_back(message->body.batch().sequence());
    }
    return sequences;
  }

  net::ZmqContext context;
  std::unique_ptr<ScriptedRouter> router = std::make_unique<ScriptedRouter>();
  MemoryBatches batches;
  Owner owner;
  std::unique_ptr<ControlClient> client;
  Nanos now = 1000 * kSecond;
  std::string peer;
  std::deque<ScriptedRouter::Message> arrived;
};

}  // namespace pingloom::agent
