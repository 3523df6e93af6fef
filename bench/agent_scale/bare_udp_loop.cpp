#include "bare_udp_loop.h"

#include <arpa/inet.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "common/fd.h"
#include "shared/clocks.h"
#include "shared/datagram_batch.h"
#include "wire/probe_packet.h"

namespace pingloom::bench {
namespace {

constexpr std::size_t kPingBytes = 64;
constexpr std::uint32_t kFirstTarget = 0x7F010000;  // 127.1.0.0

class Loop {
 public:
  Result<ExchangeResult> run(std::uint64_t exchanges, std::size_t batch, std::uint32_t targets,
                             bool acks);

 private:
  Status open(UniqueFd& socket, std::uint32_t address);
  void makePings(std::size_t count, std::uint32_t targets);
  void makePongs(std::size_t count);
  void makeAcks(std::size_t count);
  std::size_t receive(const UniqueFd& socket, std::size_t most, int flags) {
    return in_.receive(socket.get(), most, flags, result_.timestamps);
  }
  Status exchangeOnce(std::size_t batch, std::uint32_t targets, bool acks);

  UniqueFd prober_;
  UniqueFd responder_;
  std::uint16_t port_ = 0;  // the responder's, network order
  std::uint32_t next_target_ = 0;
  ExchangeResult result_;
  DatagramBatch in_;
  DatagramBatch out_;
};

Status Loop::open(UniqueFd& socket, std::uint32_t address) {
  socket.reset(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return makeErrnoError("bare loop", "socket", errno);
  const auto set = [&](int level, int option, int value) {
    return setsockopt(socket.get(), level, option, &value, sizeof value) == 0;
  };
  if (!set(SOL_SOCKET, SO_RCVBUF, 4 << 20) || !set(SOL_SOCKET, SO_SNDBUF, 4 << 20) ||
      !set(SOL_SOCKET, SO_RXQ_OVFL, 1) || !set(IPPROTO_IP, IP_PKTINFO, 1) ||
      !set(IPPROTO_IP, IP_RECVERR, 1) || !set(IPPROTO_IP, IP_RECVTOS, 1) ||
      !set(SOL_SOCKET, SO_TIMESTAMPING,
           SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID |
               SOF_TIMESTAMPING_OPT_TSONLY)) {
    return makeErrnoError("bare loop", "setsockopt", errno);
  }
  sockaddr_in bound{};
  bound.sin_family = AF_INET;
  bound.sin_addr.s_addr = htonl(address);
  socklen_t length = sizeof bound;
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&bound), length) != 0 ||
      getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    return makeErrnoError("bare loop", "bind", errno);
  }
  port_ = bound.sin_port;
  return {};
}

void Loop::makePings(std::size_t count, std::uint32_t targets) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = port_;
  for (std::size_t i = 0; i < count; ++i) {
    to.sin_addr.s_addr = htonl(kFirstTarget + next_target_);
    next_target_ = (next_target_ + 1) % targets;
    out_.address(i, to, kPingBytes);
    out_.control(i, true, nullptr);
  }
}

void Loop::makePongs(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    out_.address(i, in_.peer(i), wire::kPongBytes);
    out_.control(i, true, in_.arrivedAt(i));
  }
}

// Makes ACKs of the PONGs, whose departures are not asked for.
void Loop::makeAcks(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    out_.resize(i, wire::kAckBytes);
    out_.dropTimestampRequest(i);
  }
}

Status Loop::exchangeOnce(std::size_t batch, std::uint32_t targets, bool acks) {
  makePings(batch, targets);
  if (auto sent = out_.send(prober_.get(), batch); !sent) return sent;
  receive(prober_, batch, MSG_ERRQUEUE);
  const std::size_t arrived = receive(responder_, batch, 0);
  makePongs(arrived);
  if (auto sent = out_.send(responder_.get(), arrived); !sent) return sent;
  const std::size_t stamped = receive(responder_, batch, MSG_ERRQUEUE);
  if (acks) {
    makeAcks(arrived);
    if (auto sent = out_.send(responder_.get(), std::min(arrived, stamped)); !sent) return sent;
  }
  const std::size_t answers = acks ? 2 : 1;
  result_.exchanges += receive(prober_, answers * batch, 0) / answers;
  return {};
}

Result<ExchangeResult> Loop::run(std::uint64_t exchanges, std::size_t batch, std::uint32_t targets,
                                 bool acks) {
  if (auto opened = open(prober_, 0x7F000001); !opened) return tl::unexpected(opened.error());
  if (auto opened = open(responder_, INADDR_ANY); !opened) return tl::unexpected(opened.error());
  const Nanos before = threadCpu();
  for (std::uint64_t done = 0; done < exchanges; done += batch) {
    if (auto went = exchangeOnce(batch, targets, acks); !went) return tl::unexpected(went.error());
  }
  result_.cpu = threadCpu() - before;
  return result_;
}

}  // namespace

Result<ExchangeResult> runBareUdpLoop(std::uint64_t exchanges, std::size_t batch,
                                      std::uint32_t targets, bool acks) {
  return std::make_unique<Loop>()->run(
      exchanges, std::min<std::size_t>(batch, DatagramBatch::kMax / 2), targets, acks);
}

}  // namespace pingloom::bench
