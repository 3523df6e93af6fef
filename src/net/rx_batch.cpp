#include "net/rx_batch.h"

#include <linux/errqueue.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pingloom::net {
namespace {

// Processors copy long datagrams faster to the beginning of a cache line.
constexpr std::size_t kCacheLine = 64;

std::size_t strideOf(std::size_t kept) { return (kept + kCacheLine - 1) / kCacheLine * kCacheLine; }

template <typename Value>
Value valueOf(const cmsghdr* header) {
  Value value{};
  const std::size_t room = header->cmsg_len - CMSG_LEN(0);
  std::memcpy(&value, CMSG_DATA(header), std::min(sizeof value, room));
  return value;
}

// Behind the error the kernel puts the address of whoever sent the ICMP message.
struct ErrorFromV4 {
  sock_extended_err error;
  sockaddr_in sender;
};
struct ErrorFromV6 {
  sock_extended_err error;
  sockaddr_in6 sender;
};

void readError(const sock_extended_err& error, Ancillary& out) {
  if (error.ee_origin == SO_EE_ORIGIN_TIMESTAMPING) {
    out.is_timestamp = true;
    out.tx_number = error.ee_data;
  } else if (error.ee_origin == SO_EE_ORIGIN_ICMP) {
    out.is_icmp = error.ee_type == ICMP_DEST_UNREACH || error.ee_type == ICMP_TIME_EXCEEDED;
    out.refused = error.ee_type == ICMP_DEST_UNREACH && error.ee_code == ICMP_PORT_UNREACH;
    out.expired = error.ee_type == ICMP_TIME_EXCEEDED && error.ee_code == ICMP_EXC_TTL;
  } else if (error.ee_origin == SO_EE_ORIGIN_ICMP6) {
    out.is_icmp = error.ee_type == ICMP6_DST_UNREACH || error.ee_type == ICMP6_TIME_EXCEEDED ||
                  error.ee_type == ICMP6_PACKET_TOO_BIG;
    out.refused = error.ee_type == ICMP6_DST_UNREACH && error.ee_code == ICMP6_DST_UNREACH_NOPORT;
    out.expired =
        error.ee_type == ICMP6_TIME_EXCEEDED && error.ee_code == ICMP6_TIME_EXCEED_TRANSIT;
  }
}

void readSocketLevel(const cmsghdr* header, Ancillary& out) {
  if (header->cmsg_type == SCM_TIMESTAMPING) {
    const timespec software = valueOf<timespec>(header);  // the first of three
    out.kernel_utc = software.tv_sec * kSecond + software.tv_nsec;
  } else if (header->cmsg_type == SO_RXQ_OVFL) {
    out.overflow = valueOf<std::uint32_t>(header);
  }
}

void readV4(const cmsghdr* header, Ancillary& out) {
  if (header->cmsg_type == IP_PKTINFO) {
    out.to = IpAddress::fromV4(ntohl(valueOf<in_pktinfo>(header).ipi_spec_dst.s_addr));
  } else if (header->cmsg_type == IP_TOS) {
    out.traffic_class = valueOf<std::uint8_t>(header);
  } else if (header->cmsg_type == IP_RECVERR) {
    const auto from = valueOf<ErrorFromV4>(header);
    readError(from.error, out);
    if (out.is_icmp && from.sender.sin_family == AF_INET) {
      out.icmp_sender = IpAddress::fromV4(ntohl(from.sender.sin_addr.s_addr));
    }
  }
}

void readV6(const cmsghdr* header, Ancillary& out) {
  if (header->cmsg_type == IPV6_PKTINFO) {
    out.to = IpAddress::fromBytes16(valueOf<in6_pktinfo>(header).ipi6_addr.s6_addr);
  } else if (header->cmsg_type == IPV6_TCLASS) {
    out.traffic_class = static_cast<std::uint8_t>(valueOf<int>(header));
  } else if (header->cmsg_type == IPV6_RECVERR) {
    const auto from = valueOf<ErrorFromV6>(header);
    readError(from.error, out);
    if (out.is_icmp && from.sender.sin6_family == AF_INET6) {
      out.icmp_sender = IpAddress::fromBytes16(from.sender.sin6_addr.s6_addr);
    }
  }
}

}  // namespace

RxBatch::RxBatch(std::size_t kept)
    : kept_(kept),
      bytes_(new std::uint8_t[strideOf(kept) * kMax + kCacheLine]),
      storage_(std::make_unique<std::array<Slot, kMax>>()),
      slots_(*storage_) {
  std::uint8_t* first = bytes_.get();
  first += -reinterpret_cast<std::uintptr_t>(first) % kCacheLine;
  for (std::size_t i = 0; i < kMax; ++i) {
    Slot& slot = slots_[i];
    slot.data = {first + i * strideOf(kept), kept};
    msghdr& header = headers_[i].msg_hdr;
    header.msg_name = &slot.peer;
    header.msg_iov = &slot.data;
    header.msg_iovlen = 1;
    header.msg_control = slot.control.data();
  }
}

int RxBatch::receive(int fd, int extra_flags) {
  for (std::size_t i = 0; i < used_; ++i) {
    msghdr& header = headers_[i].msg_hdr;
    header.msg_namelen = sizeof(sockaddr_in6);
    header.msg_controllen = slots_[i].control.size();
  }
  // MSG_TRUNC makes msg_len the datagram's own length, even if that is more than is kept.
  const int got =
      recvmmsg(fd, headers_.data(), kMax, MSG_DONTWAIT | MSG_TRUNC | extra_flags, nullptr);
  used_ = got > 0 ? static_cast<std::size_t>(got) : 1;
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
  return got;
}

std::span<const std::uint8_t> RxBatch::head(std::size_t i) const {
  return {static_cast<const std::uint8_t*>(slots_[i].data.iov_base),
          std::min<std::size_t>(headers_[i].msg_len, kept_)};
}

Ancillary RxBatch::ancillary(std::size_t i) {
  Ancillary made;
  msghdr& header = headers_[i].msg_hdr;
  for (cmsghdr* at = CMSG_FIRSTHDR(&header); at != nullptr; at = CMSG_NXTHDR(&header, at)) {
    if (at->cmsg_level == SOL_SOCKET) {
      readSocketLevel(at, made);
    } else if (at->cmsg_level == IPPROTO_IP) {
      readV4(at, made);
    } else if (at->cmsg_level == IPPROTO_IPV6) {
      readV6(at, made);
    } else if (at->cmsg_level == IPPROTO_UDP && at->cmsg_type == UDP_GRO) {
      made.segment_bytes = static_cast<std::size_t>(std::max(valueOf<int>(at), 0));
    }
  }
  return made;
}

}  // namespace pingloom::net
