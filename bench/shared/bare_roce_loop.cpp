#include "shared/bare_roce_loop.h"

#include <memory>
#include <optional>

#include "net/raw_udp_socket.h"
#include "net/udp_socket.h"
#include "rdma/soft/packet.h"
#include "shared/clocks.h"
#include "shared/datagram_batch.h"

namespace pingloom::bench {
namespace {

constexpr std::size_t kIpv4Heads = 28;
constexpr std::uint16_t kPort = rdma::soft::kRoceUdpPort;

// One side: its sockets and the datagrams it sends, prepared once.
struct Side {
  std::optional<net::UdpSocket> socket;
  std::optional<net::RawUdpSocket> raw;
  DatagramBatch out;

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
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(kPort);
  peer.sin_addr.s_addr = htonl(to);
  for (std::size_t i = 0; i < DatagramBatch::kMax; ++i) {
    out.address(i, peer, bytes);
    out.control(i, true, nullptr);
  }
}

class Loop {
 public:
  Result<ExchangeResult> run(const ExchangeTask& task, bool raw, std::size_t answers);

 private:
  std::size_t receive(int descriptor, std::size_t most, int flags) {
    return in_.receive(descriptor, most, flags, result_.timestamps);
  }
  // Sends `count` and hears when they left.
  Status sendStamped(Side& side, std::size_t count);
  Status exchangeOnce(std::size_t batch, std::size_t answers);

  Side prober_;
  Side responder_;
  DatagramBatch in_;
  ExchangeResult result_;
};

Status Loop::sendStamped(Side& side, std::size_t count) {
  if (auto sent = side.out.send(side.socket->descriptor(), count); !sent) return sent;
  receive(side.socket->descriptor(), count, MSG_ERRQUEUE);
  return {};
}

Status Loop::exchangeOnce(std::size_t batch, std::size_t answers) {
  if (auto sent = sendStamped(prober_, batch); !sent) return sent;
  const std::size_t arrived = receive(responder_.receiving(), batch, 0);
  for (std::size_t answer = 0; answer < answers; ++answer) {  // PONG, then ACK
    if (auto sent = sendStamped(responder_, arrived); !sent) return sent;
  }
  result_.exchanges += receive(prober_.receiving(), answers * batch, 0) / answers;
  return {};
}

Result<ExchangeResult> Loop::run(const ExchangeTask& task, bool raw, std::size_t answers) {
  if (auto opened = prober_.open(kProberAddress, raw); !opened) {
    return tl::unexpected(opened.error());
  }
  if (auto opened = responder_.open(kResponderAddress, raw); !opened) {
    return tl::unexpected(opened.error());
  }
  const std::size_t bytes = rdma::soft::headerBytes(rdma::soft::Opcode::kUdSendOnly) +
                            task.payload + rdma::soft::kIcrcBytes;
  if (bytes + kIpv4Heads > DatagramBatch::kMaxBytes) {
    return makeError("bare loop", "payload too long");
  }
  prober_.prepare(kResponderAddress, bytes);
  responder_.prepare(kProberAddress, bytes);
  const Nanos before = threadCpu();
  for (std::uint64_t done = 0; done < task.exchanges; done += task.batch) {
    if (auto went = exchangeOnce(task.batch, answers); !went) return tl::unexpected(went.error());
  }
  result_.cpu = threadCpu() - before;
  return result_;
}

}  // namespace

Result<ExchangeResult> runBareRoceLoop(const ExchangeTask& task, bool raw, bool acks) {
  return std::make_unique<Loop>()->run(task, raw, acks ? 2 : 1);
}

}  // namespace pingloom::bench
