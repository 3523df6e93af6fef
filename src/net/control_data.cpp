#include "net/control_data.h"

#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/udp.h>

#include <cstring>

namespace pingloom::net {
namespace {

constexpr int kUdpSegment = 103;  // UDP_SEGMENT; <linux/udp.h> clashes with <netinet/udp.h>

template <typename Value>
void append(ControlData& control, int level, int type, const Value& value) {
  cmsghdr header{};
  header.cmsg_len = CMSG_LEN(sizeof value);
  header.cmsg_level = level;
  header.cmsg_type = type;
  std::uint8_t* at = control.bytes.data() + control.used;
  std::memcpy(at, &header, sizeof header);
  std::memcpy(at + CMSG_LEN(0), &value, sizeof value);
  control.used += CMSG_SPACE(sizeof value);
}

static_assert(CMSG_SPACE(sizeof(std::uint32_t)) + 2 * CMSG_SPACE(sizeof(int)) +
                  CMSG_SPACE(sizeof(in6_pktinfo)) + CMSG_SPACE(sizeof(std::uint16_t)) <=
              ControlData::kRoom);

}  // namespace

ControlData makeControl(const SendOptions& options, bool v6) {
  ControlData made;
  if (options.timestamp) {
    append(made, SOL_SOCKET, SO_TIMESTAMPING,
           static_cast<std::uint32_t>(SOF_TIMESTAMPING_TX_SOFTWARE));
  }
  if (options.traffic_class != 0) {
    append(made, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_TCLASS : IP_TOS,
           static_cast<int>(options.traffic_class));
  }
  if (options.hop_limit != 0) {
    append(made, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_HOPLIMIT : IP_TTL,
           static_cast<int>(options.hop_limit));
  }
  if (options.from && v6) {
    in6_pktinfo info{};
    std::memcpy(&info.ipi6_addr, options.from->bytes().data(), sizeof info.ipi6_addr);
    append(made, IPPROTO_IPV6, IPV6_PKTINFO, info);
  } else if (options.from) {
    in_pktinfo info{};
    std::memcpy(&info.ipi_spec_dst, options.from->bytes().data(), sizeof info.ipi_spec_dst);
    append(made, IPPROTO_IP, IP_PKTINFO, info);
  }
  if (options.segment_bytes != 0) append(made, SOL_UDP, kUdpSegment, options.segment_bytes);
  return made;
}

}  // namespace pingloom::net
