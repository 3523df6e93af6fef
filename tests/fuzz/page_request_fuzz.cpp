// Whatever collectors ask an agent for over its control channel, each request is answered once, in
// bounded memory, and where the pages lie is told to nobody who has not connected. The input is a
// row of requests: who asks (u8; the highest bit: a while later), the length (u16), the request.
#include <google/protobuf/stubs/logging.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>

#include "../unit/pages/raw_metric.h"
#include "pages.pb.h"
#include "pages/page_messages.h"
#include "pages/page_pool.h"
#include "pages/page_server.h"
#include "plain_device.h"

namespace {

using namespace pingloom;

void demand(bool holds) {
  if (!holds) std::abort();
}

// Two applications; one has brought its page in a second range, one has left.
struct Host {
  Host() {
    google::protobuf::SetLogHandler(nullptr);
    pool = std::move(*pages::PagePool::create(device, 1, {}));
    pages::PageServerOptions options;
    options.listen = {IpAddress::fromV4(0x7F000001), 0};
    options.host = "host";
    options.incarnation = 1;
    server = std::move(*pages::PageServer::create(options, device, *pool));
    pages::Owner owner;
    owner.application = "orders";
    owner.labels = {{"service", "shop"}};
    const auto known = pool->addOwner(owner);
    std::uint64_t last = 0;
    for (const char* name : {"orders_total", "depth", "gone_total"}) {
      last = pool->grant(known, 0)->generation;
      demand(pool->define(last, pages::test::RawMetric{.name = name}.bytes(), now).has_value());
    }
    pool->release(last);
  }
  fuzz::PlainDevice device;
  std::unique_ptr<pages::PagePool> pool;
  std::unique_ptr<pages::PageServer> server;
  Nanos now = kSecond;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Host host;
  std::set<std::string> connected;  // at some time
  std::string_view left(reinterpret_cast<const char*>(data), size);
  while (left.size() > 3) {
    const auto who = static_cast<std::uint8_t>(left[0]);
    const std::size_t length =
        static_cast<std::uint8_t>(left[1]) | std::size_t{static_cast<std::uint8_t>(left[2])} << 8;
    const std::string_view request = left.substr(3, length);
    left.remove_prefix(3 + request.size());
    const std::string route(1, static_cast<char>(who & 0x7F));
    const auto answer = host.server->answer({route, request, std::nullopt, {}}, host.now);
    demand(answer.has_value());  // this device's endpoints connect at once
    const wire::PageReply& reply = *answer;
    demand(reply.version() == pages::kPageControlVersion);
    demand(reply.reply_case() != wire::PageReply::REPLY_NOT_SET);
    if (reply.has_connected()) connected.insert(route);
    demand(!reply.has_directory() || connected.contains(route));
    demand(reply.ByteSizeLong() < 2 * pages::PageServer::kAnswerBytes);
    demand(host.server->readers() <= pages::PageServer::kReaders);
    if ((who & 0x80) != 0) host.server->work(host.now += kSecond);
  }
  host.server->work(host.now += pages::PageServer::kPatience);
  demand(host.server->readers() == 0);
  return 0;
}
