#include "bare_loop.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "net/control_data.h"
#include "net/outbox.h"
#include "net/raw_udp_socket.h"
#include "net/rx_batch.h"
#include "net/udp_socket.h"

namespace pingloom::bench {
namespace {

constexpr std::uint16_t kPort = 4791;
constexpr std::size_t kMostSegments = 64;
constexpr std::size_t kLongestMessage = 65'000;
constexpr int kPatience = 100;                                    // milliseconds
constexpr std::size_t kHeaders = sizeof(iphdr) + sizeof(udphdr);  // that a raw socket shows

class End {
 public:
  static Result<End> open(std::uint32_t address, bool raw) {
    std::optional<net::RawUdpSocket> seeing;
    if (raw) {
      auto opened = net::RawUdpSocket::bind(IpAddress::fromV4(address), kPort);
      if (!opened) return tl::unexpected(opened.error());
      seeing = std::move(*opened);
    }
    net::UdpSocketOptions options;
    options.unfragmented = true;
    options.deaf = raw;
    options.coalesced = !raw;
    auto bound = net::UdpSocket::bind(IpAddress::fromV4(address), kPort, options);
    if (!bound) return tl::unexpected(bound.error());
    return End(std::move(*bound), std::move(seeing));
  }

  Status send(std::uint32_t to, std::size_t count, std::size_t bytes) {
    sockaddr_in6 peer{};
    sockaddr_storage storage{};
    const socklen_t length = IpAddress::fromV4(to).toSockaddr(kPort, storage);
    std::memcpy(&peer, &storage, sizeof peer);
    const std::size_t most = std::clamp<std::size_t>(kLongestMessage / bytes, 1, kMostSegments);
    while (count > 0) {
      for (; count > 0 && !outbox_->full();) {
        const std::size_t segments = std::min(count, most);
        net::SendOptions options;
        options.segment_bytes = static_cast<std::uint16_t>(segments > 1 ? bytes : 0);
        outbox_->add(peer, length, net::makeControl(options, false), segments * bytes, {});
        count -= segments;
      }
      bool failed = false;
      const auto outcome =
          outbox_->flush(socket_, *scratch_, [&](net::TxTag, int) { failed = true; });
      if (failed || outcome == net::Outbox::Outcome::kBlocked) {
        return makeError("bare loop", "cannot send");
      }
    }
    return {};
  }

  // As many datagrams of so many bytes, in whatever pieces they come.
  Status receive(std::size_t count, std::size_t bytes) {
    std::size_t left = count * bytes;
    while (left > 0) {
      const int got = batch_->receive(descriptor(), 0);
      pollfd arrived{descriptor(), POLLIN, 0};
      // A busy kernel leaves the rest of its work to a thread of its own.
      if (got == 0 && poll(&arrived, 1, kPatience) == 1) continue;
      if (got <= 0) return makeError("bare loop", "a datagram was lost");
      for (int i = 0; i < got; ++i) {
        left -= batch_->length(static_cast<std::size_t>(i)) - (raw_ ? kHeaders : 0);
      }
    }
    return {};
  }

  // Takes away what was under way to these addresses before.
  void settle() {
    std::this_thread::sleep_for(std::chrono::milliseconds(kPatience));
    while (batch_->receive(descriptor(), 0) > 0) {
    }
  }

 private:
  End(net::UdpSocket socket, std::optional<net::RawUdpSocket> raw)
      : socket_(std::move(socket)),
        raw_(std::move(raw)),
        outbox_(std::make_unique<net::Outbox>(kLongestMessage)),
        batch_(std::make_unique<net::RxBatch>(IP_MAXPACKET)),
        scratch_(std::make_unique<net::RxBatch>()) {}

  int descriptor() const { return raw_ ? raw_->descriptor() : socket_.descriptor(); }

  net::UdpSocket socket_;
  std::optional<net::RawUdpSocket> raw_;
  std::unique_ptr<net::Outbox> outbox_;
  std::unique_ptr<net::RxBatch> batch_;
  std::unique_ptr<net::RxBatch> scratch_;
};

}  // namespace

Result<double> runBareLoop(const Traffic& traffic, std::size_t depth, std::uint64_t operations,
                           bool raw) {
  auto asking = End::open(kAskingAddress, raw);
  if (!asking) return tl::unexpected(asking.error());
  auto answering = End::open(kAnsweringAddress, raw);
  if (!answering) return tl::unexpected(answering.error());
  asking->settle();
  answering->settle();
  const std::size_t requests = depth * traffic.requests;
  const std::size_t answers = depth * traffic.answers;
  const Nanos begin = cpuNow();
  std::uint64_t done = 0;
  for (; done < operations; done += depth) {
    for (const Status& step : {asking->send(kAnsweringAddress, requests, traffic.request_bytes),
                               answering->receive(requests, traffic.request_bytes),
                               answering->send(kAskingAddress, answers, traffic.answer_bytes),
                               asking->receive(answers, traffic.answer_bytes)}) {
      if (!step) return tl::unexpected(step.error());
    }
  }
  return static_cast<double>(cpuNow() - begin) / static_cast<double>(done);
}

}  // namespace pingloom::bench
