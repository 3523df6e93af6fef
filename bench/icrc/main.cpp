// Measures the iCRC of packets of 64 B to a full one at MTU 4096, compared with what the machine
// can do in the same run: the CRC call alone over the same bytes, and a memcpy of them. Packets lie
// in cache, as those that have just been received do.
#include <benchmark/benchmark.h>
#include <isa-l/crc.h>

#include <cstring>
#include <string>
#include <vector>

#include "rdma/soft/icrc.h"
#include "rdma/soft/icrc_residual.h"
#include "rdma/soft/packet.h"
#include "shared/figures.h"

namespace {

using namespace pingloom;
using namespace pingloom::rdma::soft;
using pingloom::bench::Figures;

std::vector<std::uint8_t> packetOf(std::int64_t bytes) {
  std::vector<std::uint8_t> packet(static_cast<std::size_t>(bytes));
  for (std::size_t i = 0; i < packet.size(); ++i) packet[i] = static_cast<std::uint8_t>(i * 31);
  return packet;
}

void setBytes(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void copy(benchmark::State& state) {
  const auto packet = packetOf(state.range(0));
  std::vector<std::uint8_t> to(packet.size());
  for ([[maybe_unused]] auto round : state) {
    std::memcpy(to.data(), packet.data(), packet.size());
    benchmark::ClobberMemory();
  }
  setBytes(state);
}

void plainCrc(benchmark::State& state) {
  const auto packet = packetOf(state.range(0));
  for ([[maybe_unused]] auto round : state) {
    benchmark::DoNotOptimize(crc32_gzip_refl(0, packet.data(), packet.size()));
  }
  setBytes(state);
}

void icrcV4(benchmark::State& state) {
  const auto packet = packetOf(state.range(0));
  const IcrcFlow flow(IpAddress::fromV4(0x0A000001), 0xC000, IpAddress::fromV4(0x0A000002), 4791);
  for ([[maybe_unused]] auto round : state) benchmark::DoNotOptimize(flow.compute(packet));
  setBytes(state);
}

void icrcV6(benchmark::State& state) {
  const auto packet = packetOf(state.range(0));
  const IcrcFlow flow(IpAddress::parse("fd00::1").value(), 0xC000,
                      IpAddress::parse("fd00::2").value(), 4791);
  for ([[maybe_unused]] auto round : state) benchmark::DoNotOptimize(flow.compute(packet));
  setBytes(state);
}

// All that a receiver does without CAP_NET_RAW: it finds the flow, sums the iCRC, and looks which
// IP ID explains it.
void receiveV4(benchmark::State& state) {
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

// Collects what Google Benchmark measures as figures: rows by what is summed, columns by size.
class FigureReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      figures_.add(run.run_name.function_name + " | " + run.run_name.args + " B", "GiB/s",
                   run.counters.at("bytes_per_second").value / (1 << 30));
    }
  }
  void Finalize() override { figures_.print(); }

 private:
  Figures figures_;
};

void measured(const char* name, void (*function)(benchmark::State&)) {
  benchmark::RegisterBenchmark(name, function)->Arg(64)->Arg(256)->Arg(1040)->Arg(4112);
}

}  // namespace

int main(int argc, char** argv) {
  measured("limit: memcpy", copy);
  measured("limit: the plain CRC call", plainCrc);
  measured("iCRC over an IPv4 packet", icrcV4);
  measured("iCRC over an IPv6 packet", icrcV6);
  measured("receiving an IPv4 packet: flow, iCRC, IP ID", receiveV4);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  FigureReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
