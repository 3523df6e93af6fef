// The client library and the agent's own side: what one makes the other takes, and reads.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "client.h"
#include "common/time.h"
#include "pages/page_pool.h"
#include "pages/registration_server.h"
#include "pages/schema.h"
#include "rdma/open_device.h"

namespace pingloom::pages::test::real_agent_test {
namespace {

class RealAgent {
 public:
  explicit RealAgent(const std::string& socket, PoolLimits limits = {64, 32}) {
    rdma::DeviceOptions options;
    options.device = rdma::kSoftDevice;
    // Each process has an address of its own, because tests run in parallel.
    const auto own = static_cast<std::uint32_t>(getpid()) & 0xFFFF;
    auto device = rdma::openDevice(IpAddress::fromV4(0x7F4D0000 | own), options);
    EXPECT_TRUE(device) << device.error().text();
    device_ = std::move(*device);
    pool_ = PagePool::create(*device_, 1, limits).value();
    RegistrationOptions registration;
    registration.socket = socket;
    server_ = RegistrationServer::create(registration, *pool_).value();
    thread_ = std::thread([this] {
      while (!stop_) {
        server_->work(monotonicNow());
        EXPECT_TRUE(pool_->work(monotonicNow()));
        epoch_ = pool_->epoch();
        std::uint32_t metrics = 0;
        for (const auto& owner : pool_->owners().owners) metrics += owner.metrics;
        metrics_ = metrics;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  ~RealAgent() { stop(); }
  // From then on the caller may look at everything.
  void stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::uint64_t epoch() const { return epoch_; }
  std::uint32_t metrics() const { return metrics_; }

  // The pages that live, with their memory as a collector would read it.
  std::vector<std::pair<const Page*, const pingloom_page*>> pages() const {
    std::vector<std::pair<const Page*, const pingloom_page*>> all;
    for (const auto& change : pool_->changesSince(0)) {
      if (change.page != nullptr) all.emplace_back(change.page, pool_->range().at(change.place));
    }
    return all;
  }

 private:
  std::unique_ptr<rdma::Device> device_;
  std::unique_ptr<PagePool> pool_;
  std::unique_ptr<RegistrationServer> server_;
  std::atomic<std::uint64_t> epoch_{0};
  std::atomic<std::uint32_t> metrics_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// One of everything, with what is only just allowed.
void makeMetrics(Client& client) {
  const std::string longest(kMaxNameBytes, 'n');
  const std::string value(kMaxLabelBytes, 'v');
  const std::string help(kMaxHelpBytes, 'h');
  const pingloom_label longest_label{longest.c_str(), value.c_str()};
  pingloom_metric metric{};
  metric.name = longest.c_str();
  metric.help = help.c_str();
  metric.labels = &longest_label;
  metric.label_count = 1;
  pingloom_shared_counter shared;
  EXPECT_EQ(pingloom_shared_counter_make(client, &metric, &shared), PINGLOOM_OK);
  pingloom_shared_counter_add(shared, 3);
  metric.name = "named:by_rule";
  const pingloom_label town{"town", "Zürich 東京 \"quoted\" \\"};
  metric.labels = &town;
  pingloom_gauge gauge;
  EXPECT_EQ(pingloom_gauge_make(client, &metric, &gauge), PINGLOOM_OK);
  pingloom_gauge_set(gauge, 2.5);
  for (const pingloom_histogram_shape shape :
       {pingloom_histogram_shape{0, 1, 0}, {62, 63, 5}, {0, 63, 0}, {5, 20, 5}, {0, 0, 0}}) {
    const std::string name =
        "took_" + std::to_string(shape.lowest) + "_" + std::to_string(shape.highest);
    metric.name = name.c_str();
    metric.shape = shape;
    metric.unit = 1e-9;
    pingloom_histogram histogram;
    EXPECT_EQ(pingloom_histogram_make(client, &metric, &histogram), PINGLOOM_OK);
    pingloom_histogram_observe(histogram, 4);
  }
  metric.name = "bounded_seconds";
  metric.unit = 1e-9;
  std::vector<double> bounds;
  for (int i = 0; i < 502; ++i) bounds.push_back(i);
  pingloom_bounded_histogram bounded;
  EXPECT_EQ(
      pingloom_bounded_histogram_make(client, &metric, bounds.data(), bounds.size(), &bounded),
      PINGLOOM_OK);
  pingloom_bounded_histogram_observe(bounded, 400.5, 3);
  pingloom_bounded_histogram_observe(bounded, 1000, 0);
  EXPECT_EQ(bounded.slots[1 + 401], 1u);
  EXPECT_EQ(bounded.slots[1 + 502], 1u);
  metric.name = "build_info";
  EXPECT_EQ(pingloom_info_make(client, &metric), PINGLOOM_OK);
  client.counter("after_the_info");
  for (int i = 0; i < 700; ++i) client.counter("counter_" + std::to_string(i));
}

TEST(RealAgent, TakesAllThatTheLibraryMakes) {
  SocketFolder folder;
  RealAgent agent(folder.socket());
  Client client(folder.socket());
  makeMetrics(client);
  ASSERT_TRUE(client.settled()) << client.status().error_text;
  EXPECT_EQ(client.status().refused, 0u);
  agent.stop();
  std::size_t metrics = 0;
  for (const auto& [page, memory] : agent.pages()) {
    EXPECT_EQ(memory->header.magic, PINGLOOM_PAGE_MAGIC);
    EXPECT_EQ(memory->header.generation, page->generation);
    EXPECT_EQ(memory->header.owner, page->owner->id);
    const auto schema = readSchema(page->schema.bytes());
    ASSERT_TRUE(schema);
    std::uint32_t slots = 0;
    for (const Metric& one : *schema) {
      slots = std::max<std::uint32_t>(slots, one.first_slot + one.slots);
    }
    EXPECT_EQ(memory->header.slots, slots);
    metrics += schema->size();
    for (const Metric& metric : *schema) {
      if (metric.kind == PINGLOOM_HISTOGRAM && !metric.bounded()) {
        EXPECT_EQ(memory->slots[metric.first_slot], 4u) << metric.name;
      }
      if (metric.shared_writers) {
        EXPECT_EQ(memory->slots[metric.first_slot], 3u);
      }
    }
  }
  EXPECT_EQ(metrics, client.status().metrics);
}

TEST(RealAgent, RestartsAndReadsTheSameCounts) {
  SocketFolder folder;
  Client client(folder.socket());
  const auto counter = client.counter("a");
  pingloom_group group;
  ASSERT_EQ(pingloom_group_make(client, &group), PINGLOOM_OK);
  client.counter("b", &group);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    RealAgent agent(folder.socket());
    pingloom_counter_add(counter, 1);
    ASSERT_TRUE(client.settled()) << client.status().error_text;
    if (round == 1) {
      // A page of this agent's, which the next one is given.
      ASSERT_EQ(pingloom_group_make(client, &group), PINGLOOM_OK);
      client.counter("c", &group);
      ASSERT_TRUE(client.settled());
    }
    // Pages from elsewhere are read once a range was made that has them.
    ASSERT_TRUE(eventually([&] { return agent.epoch() > 1; }));
    agent.stop();
    ASSERT_EQ(agent.pages().size(), 3u);
    for (const auto& [page, memory] : agent.pages()) {
      if (page->flags == 0) {
        EXPECT_EQ(memory->slots[0], round);
      }
    }
  }
}

TEST(RealAgent, ForgetsWhatIsRemoved) {
  SocketFolder folder;
  Client client(folder.socket());
  makeMetrics(client);
  const auto metrics = client.status().metrics;
  {
    RealAgent agent(folder.socket());
    ASSERT_TRUE(client.settled()) << client.status().error_text;
    for (const char* name : {"took_0_63", "took_62_63", "bounded_seconds", "build_info"}) {
      EXPECT_EQ(client.remove(name), PINGLOOM_NO_METRIC) << "it has a label";
      EXPECT_EQ(client.remove(name, {"town", "Zürich 東京 \"quoted\" \\"}), PINGLOOM_OK);
    }
    EXPECT_EQ(client.remove("counter_1"), PINGLOOM_OK);
    EXPECT_EQ(client.status().metrics, metrics - 5);
    EXPECT_TRUE(eventually([&] { return agent.metrics() == metrics - 5; }));
    EXPECT_TRUE(client.settled());
    EXPECT_EQ(client.status().refused, 0u);
  }
  RealAgent next(folder.socket());
  EXPECT_TRUE(eventually([&] { return next.metrics() == metrics - 5; }));
  EXPECT_EQ(client.remove("counter_2"), PINGLOOM_OK);
  EXPECT_TRUE(eventually([&] { return next.metrics() == metrics - 6; }));
  EXPECT_TRUE(client.settled());
}

TEST(RealAgent, HasAQuota) {
  SocketFolder folder;
  RealAgent agent(folder.socket(), {4, 2});
  Client client(folder.socket());
  pingloom_group group;
  EXPECT_EQ(pingloom_group_make(client, &group), PINGLOOM_OK);
  EXPECT_EQ(pingloom_group_make(client, &group), PINGLOOM_OK);
  EXPECT_EQ(pingloom_group_make(client, &group), PINGLOOM_QUOTA);
  EXPECT_EQ(client.counter("a", nullptr, PINGLOOM_QUOTA).slot == nullptr, false);
}

}  // namespace
}  // namespace pingloom::pages::test::real_agent_test
