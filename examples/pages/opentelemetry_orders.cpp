// An order service that is instrumented with OpenTelemetry's SDK and shows its metrics as pages.
// Only the two marked lines know pingloom. It runs for SECONDS, or until it is ended:
// opentelemetry_orders [SECONDS]
#include <opentelemetry/context/context.h>
#include <opentelemetry/metrics/meter.h>
#include <opentelemetry/metrics/meter_provider.h>
#include <opentelemetry/metrics/sync_instruments.h>
#include <opentelemetry/sdk/metrics/export/periodic_exporting_metric_reader_factory.h>
#include <opentelemetry/sdk/metrics/export/periodic_exporting_metric_reader_options.h>
#include <opentelemetry/sdk/metrics/meter_context.h>
#include <opentelemetry/sdk/metrics/meter_context_factory.h>
#include <opentelemetry/sdk/metrics/meter_provider_factory.h>
#include <opentelemetry/sdk/metrics/metric_reader.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <pingloom/opentelemetry_cpp.hpp>  // the first line
#include <random>
#include <thread>
#include <utility>

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  namespace sdk = opentelemetry::sdk::metrics;
  auto exporter = std::make_unique<pingloom::PagesMetricExporter>("orders");  // the second line
  sdk::PeriodicExportingMetricReaderOptions options;
  options.export_interval_millis = std::chrono::milliseconds(1000);
  options.export_timeout_millis = std::chrono::milliseconds(500);
  auto context = sdk::MeterContextFactory::Create();
  context->AddMetricReader(
      sdk::PeriodicExportingMetricReaderFactory::Create(std::move(exporter), options));
  const std::shared_ptr<opentelemetry::metrics::MeterProvider> provider =
      sdk::MeterProviderFactory::Create(std::move(context));

  const auto meter = provider->GetMeter("shop");
  const auto orders = meter->CreateUInt64Counter("shop.orders", "Orders that were placed.");
  const auto took = meter->CreateDoubleHistogram("shop.order", "How long an order took.", "s");
  const auto end = Clock::now() + std::chrono::seconds(argc > 1 ? std::atoi(argv[1]) : 86'400);
  std::mt19937 random(1);
  std::exponential_distribution<double> wait(300);
  while (Clock::now() < end) {
    const auto begin = Clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(wait(random)));
    took->Record(std::chrono::duration<double>(Clock::now() - begin).count(),
                 opentelemetry::context::Context{});
    orders->Add(1);
  }
}
