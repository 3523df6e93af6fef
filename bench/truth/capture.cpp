#include "truth/capture.h"

#include <netinet/in.h>
#include <poll.h>

#include <array>
#include <cstdio>
#include <span>

#include "truth/packet_socket.h"
#include "wire/probe_packet.h"

namespace pingloom::truth {
namespace {

constexpr std::size_t kHeaders = 14 + 20 + 8;  // Ethernet, IPv4 without options, UDP

std::uint16_t number16(const std::uint8_t* bytes) {
  return static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]);
}

void print(std::span<const std::uint8_t> frame, std::uint16_t port, bool outgoing,
           long long nanoseconds) {
  if (frame.size() < kHeaders || number16(&frame[12]) != ETH_P_IP || frame[14] != 0x45 ||
      frame[23] != IPPROTO_UDP) {
    return;
  }
  if (number16(&frame[34]) != port && number16(&frame[36]) != port) return;
  const std::size_t payload = number16(&frame[38]) - std::size_t{8};
  wire::ProbeMessage message;
  if (frame.size() < kHeaders + payload ||
      wire::parse(frame.subspan(kHeaders, payload), message) != wire::ProbeParseError::kNone ||
      message.type == wire::ProbeType::kAck) {
    return;
  }
  std::printf("%s %s %u %llu %lld\n", outgoing ? "out" : "in",
              message.type == wire::ProbeType::kPing ? "ping" : "pong", message.id,
              static_cast<unsigned long long>(message.nonce), nanoseconds);
}

}  // namespace

Status capture(const std::string& interface, std::uint16_t port, bool departures, int stop) {
  const auto socket = openPacketSocket(interface, departures ? ETH_P_ALL : ETH_P_IP);
  if (!socket) return tl::unexpected(socket.error());
  std::puts("ready");
  std::fflush(stdout);
  pollfd ready{stop, POLLIN, 0};
  while (poll(&ready, 1, -1) < 0) {
  }
  std::array<std::uint8_t, 2048> bytes;
  alignas(cmsghdr) std::array<std::uint8_t, 256> control;
  sockaddr_ll from{};
  for (;;) {
    iovec data{bytes.data(), bytes.size()};
    msghdr message{&from, sizeof from, &data, 1, control.data(), control.size(), 0};
    const ssize_t got = recvmsg(socket->get(), &message, 0);
    if (got < 0) return {};
    print({bytes.data(), static_cast<std::size_t>(got)}, port, from.sll_pkttype == PACKET_OUTGOING,
          timestampOf(message));
  }
}

}  // namespace pingloom::truth
