#include "cli/clock_check.h"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <cstdint>
#include <optional>
#include <thread>

#include "common/vocabulary.h"

namespace pingloom::cli {
namespace {

constexpr Nanos kPause = 100 * kMillisecond;
constexpr Nanos kPatience = 3 * kSecond;  // for one message, and for finding the way before it
constexpr std::uint32_t kQKey = 0x1234;

// The message left at `ticks` on the endpoint's clock, between the two times on the host's.
struct Sample {
  std::uint64_t ticks = 0;
  Nanos before = 0;
  Nanos after = 0;

  Nanos middle() const { return before + (after - before) / 2; }
};

rdma::UdMessage messageTo(const rdma::Gid& peer, const rdma::UdEndpoint& endpoint) {
  static constexpr std::array<std::uint8_t, 16> kPayload{};
  rdma::UdMessage message;
  message.path.gid = peer;
  message.path.lid = endpoint.address().lid;
  message.qpn = endpoint.address().qpn;
  message.q_key = endpoint.address().q_key;
  message.payload = kPayload;
  return message;
}

Result<Sample> sample(rdma::UdEndpoint& endpoint, const rdma::Gid& peer, const std::string& name) {
  const Nanos end = monotonicNow() + kPatience;
  const rdma::UdMessage message = messageTo(peer, endpoint);
  rdma::UdEvents events;
  while (endpoint.post(message) != rdma::PostResult::kPosted) {
    if (monotonicNow() > end) return makeError(name, "the way to the peer is not known");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    // The endpoint learns from poll() what the resolver has found.
    if (auto polled = endpoint.poll(events); !polled) return tl::unexpected(polled.error());
  }
  Sample made;
  made.before = monotonicNow();
  endpoint.flush();
  while (monotonicNow() < end) {
    if (auto polled = endpoint.poll(events); !polled) return tl::unexpected(polled.error());
    if (!events.sent.empty()) {
      const rdma::UdSent& sent = events.sent.front();
      made.after = monotonicNow();
      if (!sent.ok) return makeError(name, "a message was not sent");
      if (!sent.ticks) return makeError(name, "a message has no timestamp");
      made.ticks = *sent.ticks;
      return made;
    }
    pollfd ready{endpoint.descriptor(), POLLIN, 0};
    ::poll(&ready, 1, 1);
  }
  return makeError(name, "a message did not leave within 3 s");
}

}  // namespace

Result<ClockCheck> checkClock(rdma::Device& device, const rdma::Gid& peer, Nanos duration) {
  rdma::UdOptions options;
  options.q_key = kQKey;
  auto endpoint = device.createUd(options);
  if (!endpoint) return tl::unexpected(endpoint.error());
  const std::string& name = device.info().name;
  const auto first = sample(**endpoint, peer, name);
  if (!first) return tl::unexpected(first.error());
  ClockCheck check;
  check.clock = (*endpoint)->clock();
  // Differences are added up, because the counter may wrap more than once within the duration.
  Nanos passed = 0;
  Sample newest = *first;
  while (newest.middle() - first->middle() < duration) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kPause));
    const auto next = sample(**endpoint, peer, name);
    if (!next) return tl::unexpected(next.error());
    passed += check.clock.between(newest.ticks, next->ticks);
    newest = *next;
  }
  check.duration = newest.middle() - first->middle();
  const auto millionths = [&](Nanos part) {
    return static_cast<double>(part) * 1e6 / static_cast<double>(check.duration);
  };
  check.ppm = millionths(passed - check.duration);
  check.uncertainty = millionths((first->after - first->before + newest.after - newest.before) / 2);
  return check;
}

std::string textOf(const ClockCheck& check) {
  return fmt::format(
      "clock        {}, {} kHz, repeats after {:.1f} s\n"
      "against host {:+.1f} ppm, +-{:.1f}, over {:.1f} s: {}\n",
      name(check.clock.source()), check.clock.kilohertz(),
      static_cast<double>(check.clock.period()) / kSecond, check.ppm, check.uncertainty,
      static_cast<double>(check.duration) / kSecond,
      check.plausible() ? "plausible" : "the ticks are not what the device says they are");
}

}  // namespace pingloom::cli
