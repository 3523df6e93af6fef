#include "bare_loop.h"

#include <isa-l/crc.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
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
constexpr std::size_t kMaxSegments = 64;
constexpr std::size_t kMaxMessage = 65'000;
constexpr Nanos kMaxSilence = kSecond;
constexpr auto kSettled = std::chrono::milliseconds(100);
constexpr auto kRest = std::chrono::microseconds(50);
constexpr std::size_t kHeaders = sizeof(iphdr) + sizeof(udphdr);  // a raw socket shows these

// The least that any implementation has to do to the bytes, with nothing around it.
class Work {
 public:
  // Copies a datagram's bytes from memory, and seals them.
  void fill(std::span<std::uint8_t> datagram) {
    std::memcpy(datagram.data(), next(datagram.size()).data(), datagram.size());
    sum_ += crc32_gzip_refl(0, datagram.data(), datagram.size());
  }
  // Checks a datagram's bytes, and copies them into memory.
  void check(std::span<const std::uint8_t> datagram) {
    sum_ += crc32_gzip_refl(0, datagram.data(), datagram.size());
    std::memcpy(next(datagram.size()).data(), datagram.data(), datagram.size());
  }

 private:
  static constexpr std::size_t kMemory = 256 << 10;  // four READs of 64 KiB

  std::span<std::uint8_t> next(std::size_t bytes) {
    if (at_ + bytes > kMemory) at_ = 0;
    at_ += bytes;
    return std::span(memory_).subspan(at_ - bytes, bytes);
  }

  std::vector<std::uint8_t> memory_ = std::vector<std::uint8_t>(kMemory);
  std::size_t at_ = 0;
  std::uint32_t sum_ = 0;
};

class End {
 public:
  static Result<End> open(std::uint32_t address, bool raw, bool working) {
    std::optional<net::RawUdpSocket> seeing;
    if (raw) {
      auto opened = net::RawUdpSocket::bind(IpAddress::fromV4(address), kPort);
      if (!opened) return tl::unexpected(opened.error());
      seeing = std::move(*opened);
    }
    net::UdpSocketOptions options;
    options.unfragmented = true;
    options.deaf = raw;
    options.coalesced = true;  // the raw socket's port drops whole messages, as the device's does
    auto bound = net::UdpSocket::bind(IpAddress::fromV4(address), kPort, options);
    if (!bound) return tl::unexpected(bound.error());
    return End(std::move(*bound), std::move(seeing), working);
  }

  // Sends the packets of so many operations.
  Status send(std::uint32_t to, std::size_t operations, const Packets& packets) {
    sockaddr_storage storage{};
    to_length_ = IpAddress::fromV4(to).toSockaddr(kPort, storage);
    std::memcpy(&to_, &storage, sizeof to_);
    std::size_t size = 0;
    std::size_t count = 0;  // of that size, in a row
    const auto add = [&](std::size_t next, std::size_t more) -> Status {
      if (next != size) {
        if (auto sent = stage(size, count); !sent) return sent;
        size = next;
        count = 0;
      }
      count += more;
      return {};
    };
    for (; operations > 0; --operations) {
      if (auto sent = add(packets.first, 1); !sent) return sent;
      if (packets.count == 1) continue;
      if (auto sent = add(packets.middle, packets.count - 2); !sent) return sent;
      if (auto sent = add(packets.last, 1); !sent) return sent;
    }
    if (auto sent = stage(size, count); !sent) return sent;
    return flush();
  }

  // Gives the bytes of the packets that have arrived, in whatever pieces they came.
  Result<std::size_t> take(const Packets& packets) {
    std::size_t bytes = 0;
    const int got = batch_->receive(descriptor(), 0);
    if (got < 0) return makeError("bare loop", "cannot receive");
    for (int i = 0; i < got; ++i) {
      const auto message = batch_->head(static_cast<std::size_t>(i)).subspan(raw_ ? kHeaders : 0);
      bytes += message.size();
      if (work_) check(message, packets);
    }
    return bytes;
  }

  // Drops what was in flight to these addresses before.
  void settle() {
    std::this_thread::sleep_for(kSettled);
    while (batch_->receive(descriptor(), 0) > 0) {
    }
  }

 private:
  End(net::UdpSocket socket, std::optional<net::RawUdpSocket> raw, bool working)
      : socket_(std::move(socket)),
        raw_(std::move(raw)),
        work_(working ? std::make_optional<Work>() : std::nullopt),
        outbox_(std::make_unique<net::Outbox>(kMaxMessage)),
        batch_(std::make_unique<net::RxBatch>(IP_MAXPACKET)),
        scratch_(std::make_unique<net::RxBatch>()) {}

  // Stages packets of one size in as few messages as the kernel takes.
  Status stage(std::size_t bytes, std::size_t count) {
    if (count == 0) return {};
    const std::size_t most = std::clamp<std::size_t>(kMaxMessage / bytes, 1, kMaxSegments);
    while (count > 0) {
      if (outbox_->full()) {
        if (auto sent = flush(); !sent) return sent;
      }
      const std::size_t segments = std::min(count, most);
      net::SendOptions options;
      options.segment_bytes = static_cast<std::uint16_t>(segments > 1 ? bytes : 0);
      auto message =
          outbox_->add(to_, to_length_, net::makeControl(options, false), segments * bytes, {});
      for (; work_ && !message.empty(); message = message.subspan(bytes)) {
        work_->fill(message.first(bytes));
      }
      count -= segments;
    }
    return {};
  }

  Status flush() {
    bool failed = false;
    const auto outcome =
        outbox_->flush(socket_, *scratch_, [&](net::TxTag, int) { failed = true; });
    if (failed || outcome == net::Outbox::Outcome::kBlocked) {
      return makeError("bare loop", "cannot send");
    }
    return {};
  }

  // Checks a message, whose packets are of one size.
  void check(std::span<const std::uint8_t> message, const Packets& packets) {
    std::size_t bytes = packets.first;
    if (packets.count > 1 && message.size() % bytes != 0) {
      bytes = message.size() % packets.middle == 0 ? packets.middle : packets.last;
    }
    for (std::size_t at = 0; at < message.size(); at += bytes) {
      work_->check(message.subspan(at, std::min(bytes, message.size() - at)));
    }
  }

  int descriptor() const { return raw_ ? raw_->descriptor() : socket_.descriptor(); }

  net::UdpSocket socket_;
  std::optional<net::RawUdpSocket> raw_;
  std::optional<Work> work_;
  std::unique_ptr<net::Outbox> outbox_;
  std::unique_ptr<net::RxBatch> batch_;
  std::unique_ptr<net::RxBatch> scratch_;
  sockaddr_in6 to_{};
  socklen_t to_length_ = 0;
};

class BareLoop {
 public:
  BareLoop(End asking, End answering, const Traffic& traffic)
      : asking_(std::move(asking)), answering_(std::move(answering)), traffic_(traffic) {
    asking_.settle();
    answering_.settle();
  }

  template <typename Meanwhile>
  Status ask(std::size_t depth, std::uint64_t operations, Cores cores, Meanwhile&& meanwhile) {
    const std::size_t answer_bytes = traffic_.answer.bytes();
    std::uint64_t asked = 0;
    std::size_t answered_bytes = 0;
    Nanos progress = monotonicNow();
    while (answered_bytes < operations * answer_bytes) {
      const std::uint64_t done = answered_bytes / answer_bytes;
      const std::uint64_t more = std::min(operations, done + depth) - asked;
      Status sent = asking_.send(kAnsweringAddress, more, traffic_.request);
      if (!sent) return sent;
      asked += more;
      if (auto went = meanwhile(); !went) return went;
      const auto took = asking_.take(traffic_.answer);
      if (!took) return tl::unexpected(took.error());
      answered_bytes += *took;
      if (auto patient = wait(*took > 0, cores, progress); !patient) return patient;
    }
    return {};
  }

  Status answer() {
    const auto took = answering_.take(traffic_.request);
    if (!took) return tl::unexpected(took.error());
    asked_bytes_ += *took;
    const std::size_t whole = asked_bytes_ / traffic_.request.bytes();
    asked_bytes_ -= whole * traffic_.request.bytes();
    return answering_.send(kAskingAddress, whole, traffic_.answer);
  }

 private:
  // A busy kernel leaves the rest of its work to a thread of its own. A loop in one thread gives it
  // the processor instead of spinning.
  static Status wait(bool progressed, Cores cores, Nanos& progress) {
    const Nanos time = monotonicNow();
    if (progressed) progress = time;
    if (time - progress > kMaxSilence) return makeError("bare loop", "a datagram was lost");
    if (!progressed && cores == Cores::kOne) std::this_thread::sleep_for(kRest);
    return {};
  }

  End asking_;
  End answering_;
  Traffic traffic_;
  std::size_t asked_bytes_ = 0;  // of requests that are not whole yet
};

}  // namespace

Result<double> runBareLoop(const Traffic& traffic, std::size_t depth, std::uint64_t operations,
                           const Setting& setting, bool working) {
  auto asking = End::open(kAskingAddress, setting.raw, working);
  if (!asking) return tl::unexpected(asking.error());
  auto answering = End::open(kAnsweringAddress, setting.raw, working);
  if (!answering) return tl::unexpected(answering.error());
  BareLoop loop(std::move(*asking), std::move(*answering), traffic);
  const auto warmed =
      loop.ask(depth, operations / kWarming, Cores::kOne, [&] { return loop.answer(); });
  if (!warmed) return tl::unexpected(warmed.error());
  return measure(
      setting.cores, operations,
      [&](auto&& meanwhile) { return loop.ask(depth, operations, setting.cores, meanwhile); },
      [&] { return loop.answer(); });
}

}  // namespace pingloom::bench
