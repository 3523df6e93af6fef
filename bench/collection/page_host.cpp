#include "page_host.h"

#include <fmt/format.h>
#include <unistd.h>

#include <pingloom/pages.hpp>
#include <vector>

namespace pingloom::bench {
namespace {

constexpr std::uint16_t kPort = 20714;

IpAddress addressOf(int number) {
  return IpAddress::fromV4(0x7F004D64 + static_cast<std::uint32_t>(number));  // 127.0.77.100
}

std::unique_ptr<Pages> startApplication(const std::string& socket, int number, int metrics) {
  PagesOptions options;
  options.application = fmt::format("application-{}", number);
  options.socket = socket;
  auto pages = std::make_unique<Pages>(options);
  for (int i = 0; i < metrics; ++i) {
    pages->counter({fmt::format("bench_metric_{}_total", i)}).add(static_cast<unsigned>(i));
  }
  return pages;
}

bool allKnown(const std::vector<std::unique_ptr<Pages>>& applications, int metrics) {
  for (const auto& pages : applications) {
    if (pages->status().known_metrics < static_cast<unsigned>(metrics)) return false;
  }
  return true;
}

int serve(int number, const Shape& shape, int ready) {
  const auto service = startPageService(number);
  std::vector<std::unique_ptr<Pages>> applications;
  applications.reserve(static_cast<std::size_t>(shape.applications));
  for (int i = 0; i < shape.applications; ++i) {
    applications.push_back(startApplication(PageHost::socket(number), i, shape.metrics));
  }
  const auto known = waitUntil("metrics of all applications", kPatience / 2,
                               [&] { return allKnown(applications, shape.metrics); });
  if (!known) die(known.error());
  if (write(ready, "r", 1) != 1) return 1;
  for (;;) pause();
}

}  // namespace

PageHost::PageHost(int number, const Shape& shape)
    : agent_(pageAgent(number)), process_([&](int ready) { return serve(number, shape, ready); }) {
  if (!process_.await('r')) die(Error{"applications", "did not start"});
}

std::string PageHost::socket(int number) {
  return fmt::format("/tmp/pingloom-collection-bench-{}.sock", number);
}

std::unique_ptr<pages::PageService> startPageService(int number) {
  pages::PageServiceOptions options;
  options.address = addressOf(number);
  options.device = softDevice();
  options.server.listen = {options.address, kPort};
  options.server.host = fmt::format("bench-{}", number);
  options.server.incarnation = 1;
  options.registration.socket = PageHost::socket(number);
  auto service = pages::PageService::start(options);
  if (!service) die(service.error());
  return std::move(*service);
}

std::string pageAgent(int number) { return SocketAddress{addressOf(number), kPort}.text(); }

rdma::DeviceOptions softDevice() {
  rdma::DeviceOptions options;
  options.device = rdma::kSoftDevice;
  options.soft.raw_socket = false;
  return options;
}

void die(const Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  std::exit(1);
}

}  // namespace pingloom::bench
