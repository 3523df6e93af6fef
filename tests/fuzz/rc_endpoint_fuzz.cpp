// Packets for the two halves of an RC endpoint, from a peer that says anything. The input is a list
// of packets, each behind four bytes: how many PSNs ahead of where the conversation is (so that the
// fuzzer need not guess 24 bits), and flags (use the right rkey, aim near the region), and its
// length. Whatever comes, the bytes around the region and around the requester's own memory stay as
// they are, and what is posted ends once at most.
#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>
#include <vector>

#include "rdma/soft/packet.h"
#include "rdma/soft/rc/memory_table.h"
#include "rdma/soft/rc/requester.h"
#include "rdma/soft/rc/responder.h"

namespace {

using namespace pingloom;
using namespace pingloom::rdma;
using namespace pingloom::rdma::soft;

constexpr Access kAll = Access::kRead | Access::kWrite | Access::kAtomic;
constexpr std::size_t kGuard = 512;
constexpr std::size_t kBytes = 1024;
constexpr std::uint8_t kCanary = 0xC5;
constexpr std::uint32_t kMtu = 256;

void demand(bool holds) {
  if (!holds) std::abort();
}

// Memory with canaries on both sides.
struct Guarded {
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(kGuard + kBytes + kGuard, kCanary);

  std::span<std::uint8_t> inside() { return std::span(bytes).subspan(kGuard, kBytes); }
  void check() const {
    const auto whole = [](std::uint8_t byte) { return byte == kCanary; };
    demand(std::all_of(bytes.begin(), bytes.begin() + kGuard, whole));
    demand(std::all_of(bytes.end() - kGuard, bytes.end(), whole));
  }
};

class Conversation {
 public:
  Conversation() {
    RcRequest request;
    for (std::uint64_t id = 0; id < 8; ++id) {
      const bool atomic = id % 3 == 2;
      const std::vector<LocalPiece> pieces = {
          {&own_region_, own_.inside().subspan(64 * id, atomic ? 8 : 700 - 64 * id)}};
      request.operation = atomic        ? RcOperation::kFetchAdd
                          : id % 3 == 0 ? RcOperation::kRead
                                        : RcOperation::kWrite;
      request.id = id;
      request.local = pieces;
      demand(requester_.post(request));
    }
    exchange();
  }
  void receive(Packet packet, std::uint8_t ahead, std::uint8_t flags) {
    const auto offset = static_cast<std::uint32_t>(static_cast<std::int8_t>(ahead));
    if (Responder::isRequest(packet.bth.opcode)) {
      packet.bth.psn = (answered_ + offset) & kMask24;
      aim(packet.reth.rkey, packet.reth.address, flags);
      aim(packet.atomic.rkey, packet.atomic.address, flags);
      responder_.receive(packet);
    } else if (Requester::isResponse(packet.bth.opcode)) {
      packet.bth.psn = offset & kMask24;
      requester_.receive(packet, now_);
    }
    now_ += kMillisecond;
    requester_.elapse(now_);
    exchange();
  }

 private:
  void aim(std::uint32_t& rkey, std::uint64_t& address, std::uint8_t flags) const {
    if ((flags & 1) != 0) rkey = key_.rkey;
    if ((flags & 2) != 0) address = key_.address + address % (2 * kBytes) - kBytes / 2;
  }
  void exchange() {
    Packet out;
    for (int i = 0; i < 64 && responder_.next(out); ++i) {
      if (out.bth.opcode != Opcode::kRcAcknowledge || out.aeth.syndrome < 0x20) {
        answered_ = out.bth.psn + 1;
      }
      std::vector<std::uint8_t> bytes(wireBytes(out));
      demand(write(out, bytes) == bytes.size());
    }
    for (int i = 0; i < 64 && requester_.next(out, now_); ++i) {
      std::vector<std::uint8_t> bytes(wireBytes(out));
      demand(write(out, bytes) == bytes.size());
    }
    for (const RcDone& done : requester_.done()) demand(ended_.insert(done.id).second);
    requester_.done().clear();
    responder_.arrived().clear();
    region_.check();
    own_.check();
  }

  MemoryTable table_;
  Guarded region_;
  Guarded own_;
  RegionKey key_ = *table_.add(region_.inside(), kAll);
  SoftMemoryRegion own_region_{table_, own_.inside(), Access::kNone,
                               *table_.add(own_.inside(), Access::kNone)};
  RcDropCounters drops_;
  Requester requester_{{.mtu = kMtu, .depth = 8, .reads = 4, .first_psn = 0, .window = 16}, drops_};
  Responder responder_{
      {.access = kAll, .mtu = kMtu, .reads = 4, .first_psn = 0, .immediates = 4}, table_, drops_};
  std::uint32_t answered_ = 0;
  Nanos now_ = kSecond;
  std::set<std::uint64_t> ended_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::uint8_t> rest(data, size);
  Conversation conversation;
  for (int packets = 0; rest.size() > 4 && packets < 64; ++packets) {
    const std::size_t length =
        std::min<std::size_t>(rest[2] | static_cast<std::size_t>(rest[3]) << 8, rest.size() - 4);
    Packet packet;
    if (parse(rest.subspan(4, length), packet) == PacketError::kNone) {
      conversation.receive(packet, rest[0], rest[1]);
    }
    rest = rest.subspan(4 + length);
  }
  return 0;
}
