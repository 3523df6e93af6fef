#include "bare_loop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <vector>

#include "net/udp_socket.h"

namespace pingloom::bench {
namespace {

constexpr std::uint16_t kPort = 4791;
constexpr std::size_t kBatch = 64;
constexpr std::size_t kRoom = 8192;

struct Batch {
  std::array<std::array<std::uint8_t, kRoom>, kBatch> bytes{};
  std::array<iovec, kBatch> data{};
  std::array<mmsghdr, kBatch> headers{};
  sockaddr_in peer{};

  explicit Batch(std::uint32_t to) {
    peer.sin_family = AF_INET;
    peer.sin_port = htons(kPort);
    peer.sin_addr.s_addr = htonl(to);
    for (std::size_t i = 0; i < kBatch; ++i) {
      data[i] = {bytes[i].data(), kRoom};
      headers[i].msg_hdr.msg_iov = &data[i];
      headers[i].msg_hdr.msg_iovlen = 1;
    }
  }
};

Status sendAll(int fd, Batch& out, std::size_t count, std::size_t bytes) {
  for (std::size_t i = 0; i < kBatch; ++i) {
    out.data[i].iov_len = bytes;
    out.headers[i].msg_hdr.msg_name = &out.peer;
    out.headers[i].msg_hdr.msg_namelen = sizeof out.peer;
  }
  while (count > 0) {
    const int sent = sendmmsg(fd, out.headers.data(),
                              static_cast<unsigned>(std::min(count, kBatch)), MSG_DONTWAIT);
    if (sent < 0) return makeErrnoError("bare loop", "sendmmsg", errno);
    count -= static_cast<std::size_t>(sent);
  }
  return {};
}

Status receiveAll(int fd, Batch& in, std::size_t count) {
  for (std::size_t i = 0; i < kBatch; ++i) in.data[i].iov_len = kRoom;
  while (count > 0) {
    const int got = recvmmsg(fd, in.headers.data(), static_cast<unsigned>(std::min(count, kBatch)),
                             MSG_DONTWAIT, nullptr);
    if (got < 0) return makeErrnoError("bare loop", "recvmmsg (a datagram was lost)", errno);
    count -= static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace

Result<double> runBareLoop(const Traffic& traffic, std::size_t depth, std::uint64_t operations) {
  auto asking = net::UdpSocket::bind(IpAddress::fromV4(kAskingAddress), kPort);
  if (!asking) return tl::unexpected(asking.error());
  auto answering = net::UdpSocket::bind(IpAddress::fromV4(kAnsweringAddress), kPort);
  if (!answering) return tl::unexpected(answering.error());
  const auto there = std::make_unique<Batch>(kAnsweringAddress);
  const auto back = std::make_unique<Batch>(kAskingAddress);
  const auto in = std::make_unique<Batch>(kAskingAddress);
  const Nanos begin = monotonicNow();
  std::uint64_t done = 0;
  for (; done < operations; done += depth) {
    const std::size_t requests = depth * traffic.requests;
    if (auto sent = sendAll(asking->descriptor(), *there, requests, traffic.request_bytes); !sent) {
      return tl::unexpected(sent.error());
    }
    if (auto got = receiveAll(answering->descriptor(), *in, requests); !got) {
      return tl::unexpected(got.error());
    }
    const std::size_t answers = depth * traffic.answers;
    if (auto sent = sendAll(answering->descriptor(), *back, answers, traffic.answer_bytes); !sent) {
      return tl::unexpected(sent.error());
    }
    if (auto got = receiveAll(asking->descriptor(), *in, answers); !got) {
      return tl::unexpected(got.error());
    }
  }
  return static_cast<double>(monotonicNow() - begin) / static_cast<double>(done);
}

}  // namespace pingloom::bench
