// A shop's order service as an example of metric pages in C++. Two threads take orders, most of
// which succeed, and account for them. It runs until it is ended, or for SECONDS: orders [SECONDS]
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <pingloom/pages.hpp>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
volatile std::sig_atomic_t ended = 0;

// The metrics that all threads update.
struct Shop {
  explicit Shop(pingloom::Pages& pages)
      : orders(pages.sharedCounter({"shop_orders_total", "Orders that were placed."})),
        refused(pages.sharedCounter(
            {"shop_refusals_total", "Orders that were refused.", {{"reason", "payment"}}})),
        open(pages.gauge({"shop_open_orders", "Orders in work."})) {
    pages.info({"shop_info", "What this is.", {{"version", "1.0"}, {"region", "north"}}});
  }

  pingloom::SharedCounter orders, refused;
  pingloom::Gauge open;
};

// The metrics of one thread. No other thread writes them, so an update is a load and a store.
class Till {
 public:
  Till(pingloom::Pages& pages, Shop& shop, int number) : shop_(shop), random_(number) {
    const pingloom::Labels labels{{"till", std::to_string(number)}};
    pingloom::MetricOptions took{"shop_order_seconds", "How long an order took.", labels};
    took.unit = 1e-9;
    took_ = pages.histogram(took);
    // Readers see revenue and items of one order together.
    books_ = pages.group();
    pingloom::MetricOptions cents{"shop_revenue_cents_total", "What was paid.", labels, books_};
    cents_ = pages.counter(cents);
    pingloom::MetricOptions items{"shop_items_total", "What was sold.", labels, books_};
    items_ = pages.counter(items);
  }

  void order(double rate) {
    std::this_thread::sleep_for(
        std::chrono::duration<double>(std::exponential_distribution<double>(rate)(random_)));
    shop_.open.add(1);
    const auto begin = Clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(
        std::lognormal_distribution<double>(std::log(0.003), 0.6)(random_)));
    shop_.open.add(-1);
    took_.observe(static_cast<std::uint64_t>((Clock::now() - begin).count()));
    if (std::bernoulli_distribution(0.03)(random_)) return shop_.refused.add();
    shop_.orders.add();
    const std::uint64_t items = 1 + std::poisson_distribution<unsigned>(1.5)(random_);
    const pingloom::Group::Update together(books_);
    items_.add(items);
    cents_.add(items * 1995);
  }

 private:
  Shop& shop_;
  std::mt19937 random_;
  pingloom::Histogram took_;
  pingloom::Group books_;
  pingloom::Counter cents_, items_;
};

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 1e9;
  std::signal(SIGINT, [](int) { ended = 1; });
  std::signal(SIGTERM, [](int) { ended = 1; });
  pingloom::PagesOptions options;
  options.application = "orders";
  options.labels = {{"service", "orders"}};
  pingloom::Pages pages(options);
  Shop shop(pages);
  const auto begin = Clock::now();
  std::vector<std::thread> threads;
  for (int number = 1; number <= 2; ++number) {
    threads.emplace_back([&pages, &shop, number, begin, seconds] {
      Till till(pages, shop, number);
      while (ended == 0) {
        const double age = std::chrono::duration<double>(Clock::now() - begin).count();
        if (age > seconds) return;
        till.order(60 + 40 * std::sin(age / 5));  // orders a second: the day is half a minute
      }
    });
  }
  for (auto& thread : threads) thread.join();
}
