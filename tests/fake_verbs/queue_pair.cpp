#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "objects.h"

namespace fake {
namespace {

constexpr std::size_t kGrhBytes = 40;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool isV4(const GidBytes& gid) {
  return std::all_of(gid.begin(), gid.begin() + 10, [](std::uint8_t b) { return b == 0; }) &&
         gid[10] == 0xFF && gid[11] == 0xFF;
}

// What a NIC writes before a datagram's payload. Before an IPv4 header it writes nothing: here it
// is what would mislead most, the beginning of an IPv6 header.
std::array<std::uint8_t, kGrhBytes> headerArea(const PacketHeader& header, std::size_t payload) {
  std::array<std::uint8_t, kGrhBytes> area;
  area.fill(0x66);
  if (!header.global) return area;
  if (header.ethernet && isV4(header.source_gid)) {
    std::uint8_t* ip = area.data() + 20;
    const auto length = static_cast<std::uint16_t>(payload + 60);
    const std::array<std::uint8_t, 12> start = {0x45,
                                                header.traffic_class,
                                                static_cast<std::uint8_t>(length >> 8),
                                                static_cast<std::uint8_t>(length),
                                                0,
                                                0,
                                                0x40,
                                                0,
                                                64,
                                                17,
                                                0,
                                                0};
    std::copy(start.begin(), start.end(), ip);
    std::copy_n(header.source_gid.begin() + 12, 4, ip + 12);
    std::copy_n(header.destination_gid.begin() + 12, 4, ip + 16);
    std::uint32_t sum = 0;
    for (int i = 0; i < 20; i += 2) sum += static_cast<std::uint32_t>(ip[i] << 8 | ip[i + 1]);
    while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
    ip[10] = static_cast<std::uint8_t>(~sum >> 8);
    ip[11] = static_cast<std::uint8_t>(~sum);
    return area;
  }
  area[0] = static_cast<std::uint8_t>(0x60 | header.traffic_class >> 4);
  area[1] = static_cast<std::uint8_t>(header.traffic_class << 4 | header.flow_label >> 16);
  area[2] = static_cast<std::uint8_t>(header.flow_label >> 8);
  area[3] = static_cast<std::uint8_t>(header.flow_label);
  std::copy(header.source_gid.begin(), header.source_gid.end(), area.begin() + 8);
  std::copy(header.destination_gid.begin(), header.destination_gid.end(), area.begin() + 24);
  return area;
}

PacketHeader headerFor(const QueuePair& pair, Device& device, const ibv_send_wr& request) {
  const ibv_ah_attr& to = static_cast<const Handle*>(request.wr.ud.ah)->attributes;
  const PortConfig& port = *device.port(pair.port);
  PacketHeader header;
  header.source_qpn = pair.qp_num;
  header.q_key = request.wr.ud.remote_qkey;
  header.source_lid = port.lid;
  header.destination_lid = to.dlid;
  header.ethernet = port.ethernet;
  header.global = to.is_global != 0;
  header.service_level = to.sl;
  header.traffic_class = to.grh.traffic_class;
  header.flow_label = to.grh.flow_label;
  std::memcpy(header.destination_gid.data(), to.grh.dgid.raw, sizeof to.grh.dgid.raw);
  for (const GidConfig& gid : port.gids) {
    if (gid.index == to.grh.sgid_index) header.source_gid = gid.gid;
  }
  return header;
}

}  // namespace

bool isRegistered(Context& context, const ibv_sge& place) {
  const auto found = context.regions.find(place.lkey);
  if (found == context.regions.end()) return false;
  const auto begin = reinterpret_cast<std::uintptr_t>(found->second->addr);
  return place.addr >= begin && place.addr + place.length <= begin + found->second->length;
}

QueuePair::QueuePair(const ibv_qp_init_attr& given) : ibv_qp(), limits(given) {
  socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in own = loopback(0);
  socklen_t length = sizeof own;
  const int bytes = 4 << 20;
  setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  if (bind(socket, reinterpret_cast<sockaddr*>(&own), sizeof own) != 0 ||
      getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length) != 0) {
    std::abort();
  }
  qp_num = ntohs(own.sin_port);
  state = IBV_QPS_RESET;
  qp_type = given.qp_type;
  send_cq = given.send_cq;
  recv_cq = given.recv_cq;
}

void QueuePair::complete(bool receive, std::uint64_t id, ibv_wc_status status, std::int64_t at) {
  WorkCompletion completion;
  completion.pair = this;
  completion.wc.wr_id = id;
  completion.wc.status = status;
  completion.wc.opcode = receive ? IBV_WC_RECV : IBV_WC_SEND;
  completion.wc.qp_num = qp_num;
  completion.ticks = owner().device.ticksAt(at);
  completion.frees = receive ? 0 : 1;
  completions(receive).push(completion);
}

int QueuePair::postSend(const ibv_send_wr& request) {
  Device& device = owner().device;
  if (state != IBV_QPS_RTS && state != IBV_QPS_ERR) return EINVAL;
  if (sends_under_way >= limits.cap.max_send_wr) return ENOMEM;
  if (device.failing_posts > 0 && device.failing_posts-- > 0) return EIO;
  if (qp_type == IBV_QPT_RC) return postRc(request);
  ++sends_under_way;
  const std::int64_t now = monotonicNanos();
  if (state == IBV_QPS_ERR) {
    complete(false, request.wr_id, IBV_WC_WR_FLUSH_ERR, now);
    return 0;
  }
  std::vector<std::uint8_t> bytes(sizeof(PacketHeader));
  for (const ibv_sge& place : std::vector(request.sg_list, request.sg_list + request.num_sge)) {
    if (!isRegistered(owner(), place)) {
      complete(false, request.wr_id, IBV_WC_LOC_PROT_ERR, now);
      breakDown(IBV_WC_WR_FLUSH_ERR);
      return 0;
    }
    const auto* begin = reinterpret_cast<const std::uint8_t*>(place.addr);
    bytes.insert(bytes.end(), begin, begin + place.length);
  }
  const PortConfig& from = *device.port(port);
  const bool fails = device.failing_sends > 0 && device.failing_sends-- > 0;
  if (fails || bytes.size() - sizeof(PacketHeader) > from.mtu) {
    complete(false, request.wr_id, fails ? IBV_WC_LOC_QP_OP_ERR : IBV_WC_LOC_LEN_ERR, now);
    breakDown(IBV_WC_WR_FLUSH_ERR);
    return 0;
  }
  if ((request.send_flags & IBV_SEND_SIGNALED) != 0) {
    complete(false, request.wr_id, IBV_WC_SUCCESS, now);
  } else {
    --sends_under_way;
  }
  if (!from.active || (device.lost_packets > 0 && device.lost_packets-- > 0)) return 0;
  PacketHeader header = headerFor(*this, device, request);
  header.due = now + static_cast<std::int64_t>(device.config.delay_us) * 1000;
  std::memcpy(bytes.data(), &header, sizeof header);
  const sockaddr_in to = loopback(static_cast<std::uint16_t>(request.wr.ud.remote_qpn));
  sendto(socket, bytes.data(), bytes.size(), MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&to),
         sizeof to);
  return 0;
}

int QueuePair::postReceive(const ibv_recv_wr& request) {
  const bool bare = qp_type == IBV_QPT_RC && request.num_sge == 0;
  if (state == IBV_QPS_RESET || (request.num_sge != 1 && !bare)) return EINVAL;
  if (receives.size() >= limits.cap.max_recv_wr) return ENOMEM;
  if (!bare && !isRegistered(owner(), *request.sg_list)) return EINVAL;
  if (state == IBV_QPS_ERR) {
    complete(true, request.wr_id, IBV_WC_WR_FLUSH_ERR, monotonicNanos());
    return 0;
  }
  PostedReceive posted{request.wr_id, nullptr, 0};
  if (!bare) {
    posted.at = reinterpret_cast<std::uint8_t*>(request.sg_list->addr);
    posted.bytes = request.sg_list->length;
  }
  receives.push_back(posted);
  return 0;
}

void QueuePair::deliver(const Arrival& arrival) {
  Device& device = owner().device;
  const PacketHeader& header = arrival.header;
  const PortConfig* at = device.port(port);
  const bool receiving = state == IBV_QPS_RTR || state == IBV_QPS_RTS;
  if (qp_type != IBV_QPT_UD) return;
  if (!receiving || at == nullptr || !at->active || device.removed) return;
  if (header.ethernet != at->ethernet || header.q_key != q_key) return;
  if (!at->ethernet && header.destination_lid != at->lid) return;
  if (header.global && !device.hasGid(port, header.destination_gid)) return;
  if (receives.empty()) return;  // an unreliable datagram without a buffer is lost
  const std::size_t bytes = kGrhBytes + arrival.payload.size();
  const PostedReceive into = receives.front();
  if (bytes > into.bytes) {
    breakDown(IBV_WC_LOC_QP_OP_ERR);
    return;
  }
  receives.pop_front();
  const auto area = headerArea(header, arrival.payload.size());
  std::copy(area.begin(), area.end(), into.at);
  std::copy(arrival.payload.begin(), arrival.payload.end(), into.at + kGrhBytes);
  WorkCompletion completion;
  completion.pair = this;
  completion.wc.wr_id = into.id;
  completion.wc.opcode = IBV_WC_RECV;
  completion.wc.byte_len = static_cast<std::uint32_t>(bytes);
  completion.wc.qp_num = qp_num;
  completion.wc.src_qp = header.source_qpn;
  completion.wc.slid = header.source_lid;
  completion.wc.sl = header.service_level;
  if (header.global) completion.wc.wc_flags = IBV_WC_GRH;
  completion.ticks = device.ticksAt(header.due);  // when it arrived, whenever this runs
  completions(true).push(completion);
}

void QueuePair::breakDown(ibv_wc_status first) {
  state = IBV_QPS_ERR;
  if (mute) return;
  flushRequests();
  for (const PostedReceive& posted : std::exchange(receives, {})) {
    complete(true, posted.id, first, monotonicNanos());
    first = IBV_WC_WR_FLUSH_ERR;
  }
}

}  // namespace fake
