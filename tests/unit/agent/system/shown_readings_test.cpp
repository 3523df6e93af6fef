// Readings on the pages of a real page pool, as a collector would find them there.
#include "agent/system/shown_readings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "../../common/temporary_directory.h"
#include "../../eventually.h"
#include "pages/page_pool.h"
#include "pages/registration_server.h"
#include "pages/schema.h"
#include "rdma/open_device.h"

namespace pingloom::agent::system::shown_readings_test {
namespace {

using test::eventually;

// The pages' part of an agent, with a thread that answers applications.
class PageHost {
 public:
  PageHost(const std::string& socket, std::size_t pages) {
    rdma::DeviceOptions options;
    options.device = rdma::kSoftDevice;
    // Each process has an address of its own, because tests run in parallel.
    const auto own = static_cast<std::uint32_t>(getpid()) & 0xFFFF;
    auto device = rdma::openDevice(IpAddress::fromV4(0x7F530000 | own), options);
    EXPECT_TRUE(device) << device.error().text();
    device_ = std::move(*device);
    pool_ = pages::PagePool::create(*device_, 1, {pages, pages}).value();
    pages::RegistrationOptions registration;
    registration.socket = socket;
    server_ = pages::RegistrationServer::create(registration, *pool_).value();
    thread_ = std::thread([this] { run(); });
  }
  ~PageHost() {
    stop_ = true;
    thread_.join();
  }

  // Returns the values by name and first label; what two owners show is there as NaN.
  std::map<std::string, double> values() {
    const std::lock_guard lock(mutex_);
    std::map<std::string, double> found;
    for (const auto& change : pool_->changesSince(0)) {
      if (change.page == nullptr) continue;
      const auto schema = pages::readSchema(change.page->schema.bytes());
      if (!schema) continue;
      for (const pages::Metric& metric : *schema) {
        const std::string label = metric.labels.empty() ? "" : metric.labels.front().second;
        const std::uint64_t* slot = &pool_->range().at(change.place)->slots[metric.first_slot];
        const auto [at, is_new] = found.emplace(metric.name + label, valueOf(metric, slot));
        if (!is_new) at->second = std::nan("");
      }
    }
    return found;
  }
  // Tells whether exactly these are shown.
  bool shows(const std::map<std::string, double>& wanted) { return values() == wanted; }

 private:
  static double valueOf(const pages::Metric& metric, const std::uint64_t* slot) {
    const std::uint64_t bits = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (metric.kind == PINGLOOM_COUNTER) return static_cast<double>(bits) * metric.unit;
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  void run() {
    while (!stop_) {
      {
        const std::lock_guard lock(mutex_);
        server_->work(monotonicNow());
        EXPECT_TRUE(pool_->work(monotonicNow()));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::unique_ptr<rdma::Device> device_;
  std::unique_ptr<pages::PagePool> pool_;
  std::unique_ptr<pages::RegistrationServer> server_;
  std::mutex mutex_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

constexpr Family kBytes = {"bytes_total", "Bytes.", Kind::kCounter, {"device"}, 512};
constexpr Family kTicks = {"ticks_total", "Ticks.", Kind::kCounter, {}, 1, 300};
constexpr Family kFree = {"free", "What is free.", Kind::kGauge, {"device"}};

class Shown : public testing::Test {
 protected:
  explicit Shown(std::size_t pages = 17) : host_((directory_ / "socket").string(), pages) {}

  // A round in which these are read.
  void round(const std::function<void(Readings&)>& read) {
    readings_.clear();
    read(readings_);
    shown_.show(readings_, now_ += kSecond);
  }

  // A round in which so many series are read.
  void many(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) names.push_back(std::to_string(i));
    round([&](Readings& readings) {
      for (const std::string& name : names) readings.count(kBytes, 1, {name});
    });
  }

  test::TemporaryDirectory directory_;
  PageHost host_;
  ShownReadings shown_{"host", directory_ / "socket"};
  Readings readings_;
  Nanos now_ = 1000 * kSecond;
};

TEST_F(Shown, CountersAndGaugesHaveTheirValues) {
  round([](Readings& readings) {
    readings.count(kBytes, 3, {"a"});
    readings.count(kBytes, 4, {"b \"\\"});
    readings.gauge(kFree, 0.5, {"a"});
  });
  EXPECT_TRUE(eventually([&] {
    return host_.shows({{"bytes_totala", 1536}, {"bytes_totalb \"\\", 2048}, {"freea", 0.5}});
  }));
  round([](Readings& readings) {
    readings.count(kBytes, 5, {"a"});
    readings.count(kBytes, 6, {"b \"\\"});
    readings.gauge(kFree, 0.25, {"a"});
  });
  EXPECT_TRUE(host_.shows({{"bytes_totala", 2560}, {"bytes_totalb \"\\", 3072}, {"freea", 0.25}}));
  EXPECT_EQ(shown_.refused(), 0U);
}

TEST_F(Shown, CountersNeverFall) {
  const auto both = [this](std::uint64_t bytes, std::uint64_t ticks) {
    round([&](Readings& readings) {
      readings.count(kBytes, bytes, {"a"});
      readings.count(kTicks, ticks);
    });
  };
  both(10, 1000);
  EXPECT_TRUE(eventually([&] {
    return host_.shows({{"bytes_totala", 10 * 512}, {"ticks_total", 1000}});
  }));
  both(9, 700);
  EXPECT_TRUE(host_.shows({{"bytes_totala", 19 * 512}, {"ticks_total", 1000}}))
      << "a device was made again, and a value is not exact";
  both(11, 699);
  EXPECT_TRUE(host_.shows({{"bytes_totala", 21 * 512}, {"ticks_total", 1699}}));
}

TEST_F(Shown, WhatIsGoneIsRemoved) {
  const auto one = [this](const char* device, std::uint64_t count) {
    round([&](Readings& readings) {
      readings.count(kBytes, count, {device});
      readings.gauge(kFree, 1, {device});
    });
  };
  one("a", 10);
  one("b", 20);
  EXPECT_TRUE(eventually([&] { return host_.shows({{"bytes_totalb", 20 * 512}, {"freeb", 1}}); }));
  one("b", 15);
  EXPECT_TRUE(host_.shows({{"bytes_totalb", 35 * 512}, {"freeb", 1}})) << "it was not away";
  one("a", 5);
  EXPECT_TRUE(eventually([&] {
    return host_.shows({{"bytes_totala", 5 * 512}, {"freea", 1}});
  })) << "it is a new metric";
  EXPECT_EQ(shown_.refused(), 0U);
}

TEST_F(Shown, WhatPagesDoNotTakeIsCounted) {
  const std::string too_long(257, 'x');
  round([&](Readings& readings) {
    readings.count(kBytes, 1, {"new\nline"});
    readings.count(kBytes, 2, {std::string_view("\xFF", 1)});
    readings.gauge(kFree, 3, {too_long});
    readings.gauge(kFree, 4, {""});
  });
  EXPECT_EQ(shown_.refused(), 3U);
  EXPECT_TRUE(eventually([&] { return host_.shows({{"free", 4}}); }));
}

class ShownOnTwoPages : public Shown {
 protected:
  ShownOnTwoPages() : Shown(2) {}
};

TEST_F(ShownOnTwoPages, WhatHadNoPageIsTriedAgain) {
  PagesOptions options;
  options.application = "other";
  options.socket = (directory_ / "socket").string();
  auto other = std::make_unique<Pages>(options);
  other->counter({"other_total"});
  EXPECT_TRUE(eventually([&] { return host_.values().size() == 1; }));
  constexpr std::size_t kSeries = PINGLOOM_PAGE_SLOTS + 3;
  many(1);
  EXPECT_TRUE(eventually([&] { return host_.values().size() == 2; }));
  many(kSeries);
  EXPECT_EQ(shown_.refused(), 3U);
  other.reset();
  EXPECT_TRUE(eventually([&] { return host_.values().size() == PINGLOOM_PAGE_SLOTS; }));
  many(kSeries);
  EXPECT_EQ(shown_.refused(), 3U) << "it is not tried every second";
  now_ += ShownReadings::kRetryAfter;
  many(kSeries);
  EXPECT_EQ(shown_.refused(), 0U);
  EXPECT_TRUE(eventually([&] { return host_.values().size() == kSeries; }));
}

TEST_F(Shown, HasALimit) {
  many(ShownReadings::kMaxSeries + 3);
  EXPECT_EQ(shown_.refused(), 3U);
  EXPECT_TRUE(eventually([&] { return host_.values().size() == ShownReadings::kMaxSeries; }));
  many(3);
  EXPECT_TRUE(eventually([&] { return host_.values().size() == 3; }));
  many(10);
  EXPECT_EQ(shown_.refused(), 7U) << "the slots of what was removed rest";
  now_ += ShownReadings::kRestsFor;
  many(10);
  EXPECT_EQ(shown_.refused(), 0U);
}

}  // namespace
}  // namespace pingloom::agent::system::shown_readings_test
