// The iCRC of packets of 64 B to a full one at MTU 4096, beside what the machine can do in the same
// run: the CRC call alone over the same bytes, and a memcpy of them. Packets lie in cache, as
// just-received ones do.
#include <benchmark/benchmark.h>
#include <isa-l/crc.h>

#include <cstring>
#include <vector>

#include "rdma/soft/icrc.h"
#include "rdma/soft/icrc_residual.h"
#include "rdma/soft/packet.h"

namespace {

using namespace pingloom;
using namespace pingloom::rdma::soft;

std::vector<std::uint8_t> packetOf(std::int64_t bytes) {
  std::vector<std::uint8_t> packet(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < packet.size(); ++i) packet[i] = static_cast<std::uint8_t>(i * 31);
  return packet;
}

void setBytes(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void BM_memcpy(benchmark::State& state) {
  const auto packet = packetOf(state.range(0));
  std::vector<std::uint8_t> copy(packet.size());
  for ([[maybe_unused]] auto round : state) {
    std::memcpy(copy.data(), packet.data(), packet.size());
    benchmark::ClobberMemory();
  }
  setBytes(state);
}

void BM_plain_crc(benchmark::State& state) {
  const auto packet = packetOf(state.range(0));
  for ([[maybe_unused]] auto round : state) {
    benchmark::DoNotOptimize(crc32_gzip_refl(0, packet.data(), packet.size()));
  }
  setBytes(state);
}

void BM_icrc_v4(benchmark::State& state) {
  const auto packet = packetOf(state.range(0));
  const IcrcFlow flow(IpAddress::fromV4(0x0A000001), 0xC000, IpAddress::fromV4(0x0A000002), 4791);
  for ([[maybe_unused]] auto round : state) benchmark::DoNotOptimize(flow.compute(packet));
  setBytes(state);
}

void BM_icrc_v6(benchmark::State& state) {
  const auto packet = packetOf(state.range(0));
  const IcrcFlow flow(IpAddress::parse("fd00::1").value(), 0xC000,
                      IpAddress::parse("fd00::2").value(), 4791);
  for ([[maybe_unused]] auto round : state) benchmark::DoNotOptimize(flow.compute(packet));
  setBytes(state);
}

// All that a receiver does without CAP_NET_RAW: flow, iCRC, and which IP ID explains it.
void BM_receive_v4(benchmark::State& state) {
  auto packet = packetOf(state.range(0));
  const auto source = IpAddress::fromV4(0x0A000001);
  const auto destination = IpAddress::fromV4(0x0A000002);
  IcrcFlow(source, 0xC000, destination, 4791).seal(packet, {.id = 0x1234});
  for ([[maybe_unused]] auto round : state) {
    const IcrcFlow flow(source, 0xC000, destination, 4791);
    const auto id = explainingId(flow.compute(packet) ^ receivedIcrc(packet), packet.size());
    if (id != 0x1234) state.SkipWithError("wrong ID");
  }
  setBytes(state);
}

}  // namespace

BENCHMARK(BM_memcpy)->Arg(64)->Arg(256)->Arg(1040)->Arg(4112);
BENCHMARK(BM_plain_crc)->Arg(64)->Arg(256)->Arg(1040)->Arg(4112);
BENCHMARK(BM_icrc_v4)->Arg(64)->Arg(256)->Arg(1040)->Arg(4112);
BENCHMARK(BM_icrc_v6)->Arg(64)->Arg(256)->Arg(1040)->Arg(4112);
BENCHMARK(BM_receive_v4)->Arg(64)->Arg(256)->Arg(1040)->Arg(4112);
