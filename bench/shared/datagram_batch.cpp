#include "shared/datagram_batch.h"

#include <linux/net_tstamp.h>

#include <cerrno>
#include <cstring>

namespace pingloom::bench {

DatagramBatch::DatagramBatch() { rearm(kMax); }

void DatagramBatch::rearm(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Slot& slot = slots_[i];
    slot.data = {slot.bytes.data(), slot.bytes.size()};
    msghdr& header = headers_[i].msg_hdr;
    header.msg_name = &slot.peer;
    header.msg_namelen = sizeof slot.peer;
    header.msg_iov = &slot.data;
    header.msg_iovlen = 1;
    header.msg_control = slot.control.data();
    header.msg_controllen = slot.control.size();
  }
}

void DatagramBatch::address(std::size_t number, const sockaddr_in& to, std::size_t bytes) {
  slots_[number].peer = to;
  resize(number, bytes);
}

void DatagramBatch::control(std::size_t number, bool timestamp, const in_pktinfo* from) {
  msghdr& header = headers_[number].msg_hdr;
  header.msg_control = slots_[number].control.data();
  header.msg_controllen = slots_[number].control.size();
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

void DatagramBatch::dropTimestampRequest(std::size_t number) {
  msghdr& header = headers_[number].msg_hdr;
  constexpr std::size_t kRequest = CMSG_SPACE(sizeof(std::uint32_t));  // the first of them
  header.msg_control = static_cast<std::uint8_t*>(header.msg_control) + kRequest;
  header.msg_controllen -= kRequest;
}

Status DatagramBatch::send(int descriptor, std::size_t count) {
  std::size_t sent = 0;
  while (sent < count) {
    const int more =
        sendmmsg(descriptor, &headers_[sent], static_cast<unsigned>(count - sent), MSG_DONTWAIT);
    if (more < 0) return makeErrnoError("bare loop", "sendmmsg", errno);
    sent += static_cast<std::size_t>(more);
  }
  return {};
}

std::size_t DatagramBatch::receive(int descriptor, std::size_t most, int flags,
                                   std::uint64_t& timestamps) {
  rearm(most);
  const int got = recvmmsg(descriptor, headers_.data(), static_cast<unsigned>(most),
                           MSG_DONTWAIT | flags, nullptr);
  if (got <= 0) return 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
    msghdr& header = headers_[i].msg_hdr;
    for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
      if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_TIMESTAMPING) ++timestamps;
    }
  }
  return static_cast<std::size_t>(got);
}

const in_pktinfo* DatagramBatch::arrivedAt(std::size_t number) {
  msghdr& header = headers_[number].msg_hdr;
  for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
    if (at->cmsg_level == IPPROTO_IP && at->cmsg_type == IP_PKTINFO) {
      return reinterpret_cast<const in_pktinfo*>(CMSG_DATA(at));
    }
  }
  return nullptr;
}

}  // namespace pingloom::bench
