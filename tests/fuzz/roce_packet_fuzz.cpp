// What arrives at port 4791, as a UDP payload or as an IPv4 packet from a raw socket. Whatever
// parses is written and sealed again and must then parse to the same, with an iCRC that holds
// exactly and by its residue.
#include <algorithm>
#include <cstdlib>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "rdma/soft/icrc.h"
#include "rdma/soft/icrc_residual.h"
#include "rdma/soft/ipv4_datagram.h"
#include "rdma/soft/packet.h"

namespace {

using namespace pingloom::rdma::soft;

void demand(bool holds) {
  if (!holds) std::abort();
}

bool sameHeaders(const Packet& a, const Packet& b) {
  const auto bth = [](const Packet& packet) {
    return std::pair(std::tuple(packet.bth.opcode, packet.bth.solicited, packet.bth.migration_done,
                                packet.bth.fecn, packet.bth.becn),
                     std::tuple(packet.bth.ack_request, packet.bth.p_key,
                                packet.bth.destination_qpn, packet.bth.psn));
  };
  const auto extensions = [](const Packet& packet) {
    return std::tuple(packet.deth.q_key, packet.deth.source_qpn, packet.reth.address,
                      packet.reth.rkey, packet.reth.length, packet.atomic.swap_or_add,
                      packet.atomic.compare, packet.aeth.syndrome, packet.aeth.msn,
                      packet.atomic_original, packet.immediate);
  };
  return bth(a) == bth(b) && extensions(a) == extensions(b);
}

// What is looked at in advance is what the parser then finds.
void tryPeek(std::span<const std::uint8_t> bytes, const Packet& packet) {
  const bool begins =
      packet.bth.opcode == Opcode::kRcWriteOnly || packet.bth.opcode == Opcode::kRcWriteFirst;
  const auto write = peekWrite(bytes);
  demand(write.has_value() == begins);
  if (!write) return;
  demand(write->destination_qpn == packet.bth.destination_qpn &&
         write->reth.address == packet.reth.address && write->reth.rkey == packet.reth.rkey &&
         write->reth.length == packet.reth.length);
}

void tryPacket(std::span<const std::uint8_t> bytes, const IcrcFlow& flow) {
  Packet packet;
  static_cast<void>(peekWrite(bytes));
  if (parse(bytes, packet) != PacketError::kNone || packet.malformed) return;
  demand(packet.payload.size() <= kMaxPayloadBytes);
  demand(packet.payload.data() >= bytes.data() &&
         packet.payload.data() + packet.payload.size() <= bytes.data() + bytes.size());
  flow.compute(bytes);
  tryPeek(bytes, packet);

  std::vector<std::uint8_t> again(wireBytes(packet));
  demand(again.size() <= kMaxPacketBytes && write(packet, again) == again.size());
  const auto id = static_cast<std::uint16_t>(packet.bth.psn);
  flow.seal(again, {.id = id});
  Packet reparsed;
  demand(parse(again, reparsed) == PacketError::kNone);
  demand(sameHeaders(packet, reparsed));
  demand(std::equal(packet.payload.begin(), packet.payload.end(), reparsed.payload.begin(),
                    reparsed.payload.end()));
  demand(flow.compute(again, {.id = id}) == receivedIcrc(again));
  const auto explained = explainingId(flow.compute(again) ^ receivedIcrc(again), again.size());
  demand(explained == id);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using pingloom::IpAddress;
  const std::span<const std::uint8_t> bytes(data, size);
  tryPacket(bytes, {IpAddress::fromV4(1), 0xC000, IpAddress::fromV4(2), kRoceUdpPort});
  Ipv4Datagram datagram;
  if (parse(bytes, datagram) == Ipv4Error::kNone) tryPacket(datagram.payload, datagram.flow());
  return 0;
}
