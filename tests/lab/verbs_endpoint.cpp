// Runs in the lab's guest: verbs endpoints on kernel Soft-RoCE exchange messages, meet what goes
// wrong on a real driver, and recover. verbs_endpoint.sh calls it.
#include <poll.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "common/duration.h"
#include "common/log.h"
#include "common/time.h"
#include "rdma/verbs/verbs_device.h"

namespace {

using namespace pingloom;
using namespace pingloom::rdma;

[[noreturn]] void fail(const std::string& why) {
  std::printf("FAILED: %s\n", why.c_str());
  std::exit(1);
}
void require(bool holds, const std::string& why) {
  if (!holds) fail(why);
}

struct Host {
  std::unique_ptr<Device> device;
  std::unique_ptr<UdEndpoint> endpoint;
  UdEvents events;

  explicit Host(const std::string& address, const UdOptions& options = {}) {
    auto opened = verbs::openVerbsDevice({.address = IpAddress::parse(address).value()});
    if (!opened) fail(opened.error().text());
    device = std::move(*opened);
    auto made = device->createUd(options);
    if (!made) fail(made.error().text());
    endpoint = std::move(*made);
  }
  // Waits as an event loop would, then polls.
  Status step(int milliseconds) {
    pollfd waiting{endpoint->descriptor(), POLLIN, 0};
    const bool due = endpoint->nextWake() <= monotonicNow();
    ::poll(&waiting, 1, due ? 0 : milliseconds);
    return endpoint->poll(events);
  }
};

// Posts until the path is resolved or known not to be; the time it took at most `limit`.
PostResult postWaiting(Host& host, const UdMessage& message, Nanos limit) {
  const Nanos end = monotonicNow() + limit;
  for (;;) {
    const PostResult result = host.endpoint->post(message);
    if (result != PostResult::kResolving || monotonicNow() > end) return result;
    if (auto polled = host.step(5); !polled) fail(polled.error().text());
  }
}

UdMessage messageTo(const UdAddress& to, std::span<const std::uint8_t> payload, std::uint64_t id) {
  UdMessage message;
  message.path = {to.gid, to.lid, 106, 0};
  message.qpn = to.qpn;
  message.q_key = to.q_key;
  message.payload = payload;
  message.id = id;
  return message;
}

// `rounds` messages there and back; the answer goes to where the question said it came from.
void exchange(const std::string& a_address, const std::string& b_address, int rounds, bool busy) {
  UdOptions options;
  options.busy = busy;
  Host a(a_address, options);
  Host b(b_address, options);
  std::vector<std::uint8_t> payload(a.endpoint->maxPayload());
  int done = 0;
  Nanos network = 0;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < payload.size(); ++i)
      payload[i] = static_cast<std::uint8_t>(i + round);
    const auto id = static_cast<std::uint64_t>(round);
    require(postWaiting(a, messageTo(b.endpoint->address(), payload, id), 8 * kSecond) ==
                PostResult::kPosted,
            "not posted");
    a.endpoint->flush();
    std::map<char, std::uint64_t> ticks;
    const Nanos end = monotonicNow() + 2 * kSecond;
    while (ticks.size() < 4 && monotonicNow() < end) {
      if (auto polled = a.step(1); !polled) fail(polled.error().text());
      for (const UdSent& sent : a.events.sent) {
        require(sent.ok && sent.ticks && sent.id == id, "a's send");
        ticks['1'] = *sent.ticks;
      }
      for (const UdReceived& got : a.events.received) {
        require(got.qpn == b.endpoint->address().qpn && got.ticks, "a's receive");
        require(std::equal(payload.begin(), payload.end(), got.payload.begin(), got.payload.end()),
                "damaged data at a");
        ticks['4'] = *got.ticks;
      }
      if (auto polled = b.step(1); !polled) fail(polled.error().text());
      for (const UdSent& sent : b.events.sent) ticks['3'] = sent.ticks.value();
      for (const UdReceived& got : b.events.received) {
        require(got.from.gid == a.endpoint->address().gid,
                "source " + got.from.gid.address().text());
        require(got.from.traffic_class == 106, "traffic class");
        require(got.qpn == a.endpoint->address().qpn, "source QPN");
        require(std::equal(payload.begin(), payload.end(), got.payload.begin(), got.payload.end()),
                "damaged data at b");
        ticks['2'] = got.ticks.value();
        UdMessage back = messageTo(a.endpoint->address(), got.payload, id);
        back.path = got.from;
        // Its payload lies in a receive buffer: that is copied by post(), so it is posted before
        // the next poll().
        std::vector<std::uint8_t> copy(got.payload.begin(), got.payload.end());
        back.payload = copy;
        require(postWaiting(b, back, 8 * kSecond) == PostResult::kPosted, "not answered");
        b.endpoint->flush();
        break;
      }
    }
    if (ticks.size() < 4) continue;
    ++done;
    network += a.endpoint->clock().between(ticks['1'], ticks['4']) -
               b.endpoint->clock().between(ticks['2'], ticks['3']);
  }
  require(done == rounds, fmt::format("{} of {} rounds", done, rounds));
  std::printf("%s <-> %s%s: %d rounds of %zu bytes, network %s, clock %s\n", a_address.c_str(),
              b_address.c_str(), busy ? ", busy" : "", done, payload.size(),
              humanNanos(network / done).c_str(),
              std::string(name(a.endpoint->clock().source())).c_str());
}

// Many messages at once: the queues are bounded, nothing is an error, everything comes back.
void burst(int messages) {
  Host a("10.0.0.1");
  Host b("10.0.0.2");
  const std::array<std::uint8_t, 64> payload{};
  int posted = 0;
  int sent = 0;
  int received = 0;
  int full = 0;
  const Nanos end = monotonicNow() + 20 * kSecond;
  while ((sent < messages || received < messages) && monotonicNow() < end) {
    while (posted < messages) {
      const auto result = a.endpoint->post(
          messageTo(b.endpoint->address(), payload, static_cast<std::uint64_t>(posted)));
      if (result == PostResult::kFull) ++full;
      if (result != PostResult::kPosted) break;
      ++posted;
    }
    a.endpoint->flush();
    for (Host* host : {&a, &b}) {
      if (auto polled = host->step(0); !polled) fail(polled.error().text());
      sent += static_cast<int>(host->events.sent.size());
      received += static_cast<int>(host->events.received.size());
    }
  }
  std::printf("burst: %d posted, %d sent, %d received, send queue full %d times\n", posted, sent,
              received, full);
  require(sent == messages, "sends without a completion");
  require(received == messages, "lost");
  require(full > 0, "the send queue was never full");
}

void deadAddress() {
  Host a("10.0.0.1");
  UdAddress nobody = a.endpoint->address();
  nobody.gid = Gid::of(IpAddress::parse("10.0.0.99").value());
  const std::array<std::uint8_t, 64> payload{};
  const UdMessage message = messageTo(nobody, payload, 1);
  const Nanos begin = monotonicNow();
  require(a.endpoint->post(message) == PostResult::kResolving, "resolved at once");
  require(monotonicNow() - begin < 50 * kMillisecond, "post() waited");
  const PostResult result = postWaiting(a, message, 10 * kSecond);
  std::printf("dead address: unreachable after %s\n", humanNanos(monotonicNow() - begin).c_str());
  require(result == PostResult::kUnreachable, "no verdict");
  require(a.endpoint->post(message) == PostResult::kUnreachable, "forgotten");
}

// Until poll() fails; the reason.
std::string waitForFailure(Host& host, Nanos limit) {
  const Nanos end = monotonicNow() + limit;
  while (monotonicNow() < end) {
    if (auto polled = host.step(10); !polled) return polled.error().text();
  }
  fail("the endpoint did not notice");
}

void command(const char* line) { require(std::system(line) == 0, line); }

void portDown() {
  Host a("10.0.0.1");
  command("ip link set h1 down");
  std::printf("port down: %s\n", waitForFailure(a, 5 * kSecond).c_str());
  auto again = verbs::openVerbsDevice({.address = std::nullopt, .device = "rxe1"});
  require(!again, "opened a port that is down");
  std::printf("opened while down: %s\n", again.error().text().c_str());
  command("ip link set h1 up");
}

void removed() {
  {
    Host a("10.0.0.2");
    command("rdma link delete rxe2 &");  // it waits until nobody has it open
    std::printf("removed: %s\n", waitForFailure(a, 5 * kSecond).c_str());
  }
  auto again =
      verbs::openVerbsDevice({.address = IpAddress::parse("10.0.0.2").value(), .device = "rxe2"});
  require(!again, "opened a device that is gone");
  std::printf("opened while gone: %s\n", again.error().text().c_str());
  command("rdma link add rxe2 type rxe netdev h2");
  for (int i = 0; i < 100; ++i) {
    if (verbs::openVerbsDevice({.address = IpAddress::parse("10.0.0.2").value()})) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  fail("the device did not come back");
}

// A peer whose messages are larger than its queue pair's buffers: the victim is a raw queue pair of
// this process with an oversized payload, sent by an endpoint with a larger MTU than the victim's
// link.
void devices() {
  auto list = verbs::listDevices();
  if (!list) fail(list.error().text());
  for (const DeviceDetails& device : *list) {
    std::printf("%s: vendor %#x, timestamps %#llx, clock %llu kHz%s%s\n", device.name.c_str(),
                device.vendor_id, static_cast<unsigned long long>(device.timestamp_mask),
                static_cast<unsigned long long>(device.core_clock_khz),
                device.problem.empty() ? "" : ", ", device.problem.c_str());
    for (const PortDetails& port : device.ports) {
      std::printf("  port %d %s %s, MTU %u, %.1f Gbit/s, %zu counters\n", port.number,
                  port.state.c_str(), std::string(name(port.link_layer)).c_str(), port.active_mtu,
                  static_cast<double>(port.bits_per_second) / 1e9,
                  verbs::portCounters(device, port.number).size());
      for (const GidDetails& gid : port.gids) {
        std::printf("    %u %s %s %s, link MTU %u\n", gid.index, gid.gid.address().text().c_str(),
                    std::string(name(gid.type)).c_str(), gid.interface.c_str(), gid.link_mtu);
      }
    }
  }
  require(list->size() == 2, "not two devices");
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  log::init("verbs_endpoint", log::Level::kInfo);
  devices();
  exchange("10.0.0.1", "10.0.0.2", 50, false);
  exchange("fd00::1", "fd00::2", 50, false);
  exchange("10.0.0.1", "10.0.0.2", 20, true);
  burst(5000);
  deadAddress();
  portDown();
  exchange("10.0.0.1", "10.0.0.2", 5, false);
  removed();
  exchange("10.0.0.1", "10.0.0.2", 5, false);
  auto nowhere = verbs::openVerbsDevice({.address = IpAddress::parse("10.9.9.9").value()});
  require(!nowhere, "found an address that is not there");
  std::printf("%s\n", nowhere.error().text().c_str());
  std::printf("all done\n");
  return 0;
}
