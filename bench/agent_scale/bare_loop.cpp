#include "bare_loop.h"

#include <arpa/inet.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "common/fd.h"
#include "wire/probe_packet.h"

namespace pingloom::bench {
namespace {

constexpr std::size_t kMax = 128;                   // both answers to a batch of 64
constexpr std::uint32_t kFirstTarget = 0x7F010000;  // 127.1.0.0

struct Slot {
  sockaddr_in peer{};
  iovec data{};
  std::array<std::uint8_t, 64> bytes{};
  alignas(cmsghdr) std::array<std::uint8_t, 256> control{};
};

struct Batch {
  std::array<Slot, kMax> slots;
  std::array<mmsghdr, kMax> headers{};

  Batch() { rearm(kMax); }
  // Receiving shrinks the lengths in the headers.
  void rearm(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      slots[i].data = {slots[i].bytes.data(), slots[i].bytes.size()};
      auto& header = headers[i].msg_hdr;
      header.msg_name = &slots[i].peer;
      header.msg_namelen = sizeof slots[i].peer;
      header.msg_iov = &slots[i].data;
      header.msg_iovlen = 1;
      header.msg_control = slots[i].control.data();
      header.msg_controllen = slots[i].control.size();
    }
  }
};

class Loop {
 public:
  Result<BareResult> run(std::uint64_t exchanges, std::size_t batch, std::uint32_t targets);

 private:
  Status open(UniqueFd& socket, std::uint32_t address);
  void makePings(std::size_t count, std::uint32_t targets);
  void addControl(std::size_t slot, bool timestamp, const in_pktinfo* from);
  Status send(const UniqueFd& socket, std::size_t count);
  std::size_t receive(const UniqueFd& socket, std::size_t most, int flags);
  void makeReplies(std::size_t count, std::size_t bytes, bool timestamp);
  Status exchangeOnce(std::size_t batch, std::uint32_t targets);

  UniqueFd prober_;
  UniqueFd responder_;
  std::uint16_t port_ = 0;  // the responder's, network order
  std::uint32_t next_target_ = 0;
  BareResult result_;
  Batch in_;
  Batch out_;
};

Nanos threadCpu() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * kSecond +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * kMicrosecond;
}

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

void Loop::addControl(std::size_t slot, bool timestamp, const in_pktinfo* from) {
  auto& header = out_.headers[slot].msg_hdr;
  header.msg_control = out_.slots[slot].control.data();
  header.msg_controllen = out_.slots[slot].control.size();
  std::size_t used = 0;
  cmsghdr* at = CMSG_FIRSTHDR(&header);
  if (timestamp) {
    at->cmsg_level = SOL_SOCKET;
    at->cmsg_type = SO_TIMESTAMPING;
    at->cmsg_len = CMSG_LEN(sizeof(std::uint32_t));
    const std::uint32_t flags = SOF_TIMESTAMPING_TX_SOFTWARE;
    std::memcpy(CMSG_DATA(at), &flags, sizeof flags);
    used += CMSG_SPACE(sizeof flags);
    at = CMSG_NXTHDR(&header, at);
  }
  if (from != nullptr) {
    at->cmsg_level = IPPROTO_IP;
    at->cmsg_type = IP_PKTINFO;
    at->cmsg_len = CMSG_LEN(sizeof(in_pktinfo));
    const in_pktinfo info = {0, from->ipi_addr, {}};
    std::memcpy(CMSG_DATA(at), &info, sizeof info);
    used += CMSG_SPACE(sizeof info);
  }
  header.msg_controllen = used;
  if (used == 0) header.msg_control = nullptr;
}

void Loop::makePings(std::size_t count, std::uint32_t targets) {
  for (std::size_t i = 0; i < count; ++i) {
    auto& slot = out_.slots[i];
    slot.peer.sin_family = AF_INET;
    slot.peer.sin_port = port_;
    slot.peer.sin_addr.s_addr = htonl(kFirstTarget + next_target_);
    next_target_ = (next_target_ + 1) % targets;
    slot.data.iov_len = 64;
    addControl(i, true, nullptr);
  }
}

Status Loop::send(const UniqueFd& socket, std::size_t count) {
  std::size_t sent = 0;
  while (sent < count) {
    const int more = sendmmsg(socket.get(), &out_.headers[sent],
                              static_cast<unsigned>(count - sent), MSG_DONTWAIT);
    if (more < 0) return makeErrnoError("bare loop", "sendmmsg", errno);
    sent += static_cast<std::size_t>(more);
  }
  return {};
}

std::size_t Loop::receive(const UniqueFd& socket, std::size_t most, int flags) {
  in_.rearm(most);
  const int got = recvmmsg(socket.get(), in_.headers.data(), static_cast<unsigned>(most),
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

void Loop::makeReplies(std::size_t count, std::size_t bytes, bool timestamp) {
  for (std::size_t i = 0; i < count; ++i) {
    const in_pktinfo* from = nullptr;
    auto& header = in_.headers[i].msg_hdr;
    for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
      if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_PKTINFO) {
        from = reinterpret_cast<const in_pktinfo*>(CMSG_DATA(at));
      }
    }
    out_.slots[i].peer = in_.slots[i].peer;
    out_.slots[i].data.iov_len = bytes;
    addControl(i, timestamp, from);
  }
}

Status Loop::exchangeOnce(std::size_t batch, std::uint32_t targets) {
  makePings(batch, targets);
  if (auto sent = send(prober_, batch); !sent) return sent;
  receive(prober_, batch, MSG_ERRQUEUE);
  const std::size_t arrived = receive(responder_, batch, 0);
  makeReplies(arrived, wire::kPongBytes, true);
  if (auto sent = send(responder_, arrived); !sent) return sent;
  const std::size_t stamped = receive(responder_, batch, MSG_ERRQUEUE);
  for (std::size_t i = 0; i < arrived; ++i) {
    out_.slots[i].data.iov_len = wire::kAckBytes;
    auto& header = out_.headers[i].msg_hdr;
    // Only the timestamp request goes: it is the first of the two.
    auto* first = reinterpret_cast<std::uint8_t*>(header.msg_control);
    header.msg_control = first + CMSG_SPACE(sizeof(std::uint32_t));
    header.msg_controllen -= CMSG_SPACE(sizeof(std::uint32_t));
  }
  if (auto sent = send(responder_, std::min(arrived, stamped)); !sent) return sent;
  const std::size_t answers = receive(prober_, 2 * batch, 0);
  result_.exchanges += answers / 2;
  return {};
}

Result<BareResult> Loop::run(std::uint64_t exchanges, std::size_t batch, std::uint32_t targets) {
  if (auto opened = open(prober_, 0x7F000001); !opened) return tl::unexpected(opened.error());
  if (auto opened = open(responder_, INADDR_ANY); !opened) return tl::unexpected(opened.error());
  const Nanos before = threadCpu();
  for (std::uint64_t done = 0; done < exchanges; done += batch) {
    if (auto went = exchangeOnce(batch, targets); !went) return tl::unexpected(went.error());
  }
  result_.cpu = threadCpu() - before;
  return result_;
}

}  // namespace

Result<BareResult> runBareLoop(std::uint64_t exchanges, std::size_t batch, std::uint32_t targets) {
  return Loop().run(exchanges, std::min<std::size_t>(batch, kMax / 2), targets);
}

}  // namespace pingloom::bench
