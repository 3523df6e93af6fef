#include "bare_loop.h"

#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "net/raw_udp_socket.h"
#include "net/udp_socket.h"
#include "rdma/soft/packet.h"

namespace pingloom::bench {
namespace {

constexpr std::size_t kMax = 128;  // both answers to a batch of 64
constexpr std::size_t kIpv4Heads = 28;
constexpr std::uint16_t kPort = rdma::soft::kRoceUdpPort;

struct Slot {
  sockaddr_in peer{};
  iovec data{};
  std::array<std::uint8_t, 1024> bytes{};
  alignas(cmsghdr) std::array<std::uint8_t, 256> control{};
};

struct Batch {
  std::array<Slot, kMax> slots;
  std::array<mmsghdr, kMax> headers{};

  Batch() {
    for (std::size_t i = 0; i < kMax; ++i) {
      auto& header = headers[i].msg_hdr;
      slots[i].data = {slots[i].bytes.data(), slots[i].bytes.size()};
      header.msg_name = &slots[i].peer;
      header.msg_iov = &slots[i].data;
      header.msg_iovlen = 1;
      header.msg_control = slots[i].control.data();
    }
  }
  // Receiving shrinks the lengths in the headers.
  void rearm(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      headers[i].msg_hdr.msg_namelen = sizeof(sockaddr_in);
      headers[i].msg_hdr.msg_controllen = slots[i].control.size();
    }
  }
};

// One side: its sockets and the datagrams it sends, prepared once.
struct Side {
  std::optional<net::UdpSocket> socket;
  std::optional<net::RawUdpSocket> raw;
  Batch out;

  Status open(std::uint32_t address, bool use_raw);
  void prepare(std::uint32_t to, std::size_t bytes);
  int receiving() const { return raw ? raw->descriptor() : socket->descriptor(); }
};

Status Side::open(std::uint32_t address, bool use_raw) {
  net::UdpSocketOptions options;
  options.unfragmented = true;
  options.deaf = use_raw;
  auto bound = net::UdpSocket::bind(IpAddress::fromV4(address), kPort, options);
  if (!bound) return tl::unexpected(bound.error());
  socket.emplace(std::move(*bound));
  if (!use_raw) return {};
  auto opened = net::RawUdpSocket::bind(IpAddress::fromV4(address), kPort);
  if (!opened) return tl::unexpected(opened.error());
  raw.emplace(std::move(*opened));
  return {};
}

void Side::prepare(std::uint32_t to, std::size_t bytes) {
  for (std::size_t i = 0; i < kMax; ++i) {
    Slot& slot = out.slots[i];
    slot.peer.sin_family = AF_INET;
    slot.peer.sin_port = htons(kPort);
    slot.peer.sin_addr.s_addr = htonl(to);
    slot.data.iov_len = bytes;
    auto& header = out.headers[i].msg_hdr;
    header.msg_namelen = sizeof slot.peer;
    header.msg_controllen = slot.control.size();
    cmsghdr* at = CMSG_FIRSTHDR(&header);
    at->cmsg_level = SOL_SOCKET;
    at->cmsg_type = SO_TIMESTAMPING;
    at->cmsg_len = CMSG_LEN(sizeof(std::uint32_t));
    const std::uint32_t flags = SOF_TIMESTAMPING_TX_SOFTWARE;
    std::memcpy(CMSG_DATA(at), &flags, sizeof flags);
    header.msg_controllen = CMSG_SPACE(sizeof flags);
  }
}

class Loop {
 public:
  Result<ExchangeResult> run(const ExchangeTask& task, bool raw);

 private:
  Status send(Side& side, std::size_t count);
  std::size_t receive(int descriptor, std::size_t most, int flags);
  // Sends `count` and hears when they left.
  Status sendStamped(Side& side, std::size_t count);
  Status exchangeOnce(std::size_t batch);

  Side prober_;
  Side responder_;
  Batch in_;
  ExchangeResult result_;
};

Status Loop::send(Side& side, std::size_t count) {
  std::size_t sent = 0;
  while (sent < count) {
    const int more = sendmmsg(side.socket->descriptor(), &side.out.headers[sent],
                              static_cast<unsigned>(count - sent), MSG_DONTWAIT);
    if (more < 0) return makeErrnoError("bare loop", "sendmmsg", errno);
    sent += static_cast<std::size_t>(more);
  }
  return {};
}

std::size_t Loop::receive(int descriptor, std::size_t most, int flags) {
  in_.rearm(most);
  const int got = recvmmsg(descriptor, in_.headers.data(), static_cast<unsigned>(most),
                           MSG_DONTWAIT | flags, nullptr);
  if (got <= 0) return 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
    auto& header = in_.headers[i].msg_hdr;
    for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
      if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_TIMESTAMPING) ++result_.timestamps;
    }
  }
  return static_cast<std::size_t>(got);
}

Status Loop::sendStamped(Side& side, std::size_t count) {
  if (auto sent = send(side, count); !sent) return sent;
  receive(side.socket->descriptor(), count, MSG_ERRQUEUE);
  return {};
}

Status Loop::exchangeOnce(std::size_t batch) {
  if (auto sent = sendStamped(prober_, batch); !sent) return sent;
  const std::size_t arrived = receive(responder_.receiving(), batch, 0);
  for (int answer = 0; answer < 2; ++answer) {  // PONG, then ACK
    if (auto sent = sendStamped(responder_, arrived); !sent) return sent;
  }
  result_.exchanges += receive(prober_.receiving(), 2 * batch, 0) / 2;
  return {};
}

Result<ExchangeResult> Loop::run(const ExchangeTask& task, bool raw) {
  if (auto opened = prober_.open(kProberAddress, raw); !opened) {
    return tl::unexpected(opened.error());
  }
  if (auto opened = responder_.open(kResponderAddress, raw); !opened) {
    return tl::unexpected(opened.error());
  }
  const std::size_t bytes = rdma::soft::headerBytes(rdma::soft::Opcode::kUdSendOnly) +
                            task.payload + rdma::soft::kIcrcBytes;
  if (bytes + kIpv4Heads > sizeof Slot::bytes) return makeError("bare loop", "payload too long");
  prober_.prepare(kResponderAddress, bytes);
  responder_.prepare(kProberAddress, bytes);
  const Nanos before = threadCpu();
  for (std::uint64_t done = 0; done < task.exchanges; done += task.batch) {
    if (auto went = exchangeOnce(task.batch); !went) return tl::unexpected(went.error());
  }
  result_.cpu = threadCpu() - before;
  return result_;
}

}  // namespace

Result<ExchangeResult> runBareLoop(const ExchangeTask& task, bool raw) {
  return std::make_unique<Loop>()->run(task, raw);
}

}  // namespace pingloom::bench
