// An order service that is instrumented with prometheus-cpp and shows its metrics as pages. Only
// the two marked lines know pingloom. It runs for SECONDS, or until it is ended:
// prometheus_orders [SECONDS]
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <pingloom/prometheus_cpp.hpp>  // the first line
#include <random>
#include <thread>

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  const auto registry = std::make_shared<prometheus::Registry>();
  auto& orders = prometheus::BuildCounter()
                     .Name("shop_orders_total")
                     .Help("Orders that were placed.")
                     .Register(*registry)
                     .Add({{"till", "1"}});
  auto& took = prometheus::BuildHistogram()
                   .Name("shop_order_seconds")
                   .Help("How long an order took.")
                   .Register(*registry)
                   .Add({}, prometheus::Histogram::BucketBoundaries{0.001, 0.0025, 0.005, 0.01});
  const pingloom::PrometheusPages pages(registry, "orders");  // the second line

  const auto end = Clock::now() + std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 86'400);
  std::mt19937 random(1);
  std::exponential_distribution<double> wait(300);
  while (Clock::now() < end) {
    const auto begin = Clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(wait(random)));
    took.Observe(std::chrono::duration<double>(Clock::now() - begin).count());
    orders.Increment();
  }
}
