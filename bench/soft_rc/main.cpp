// One-sided operations between two soft devices on loopback, iCRC on. Beside each, in turns, the
// bare loop over datagrams of the same sizes, looking at nothing and again doing what must be done
// to the bytes. First both sides in one thread, which never waits:
// everything, the kernel's part too, happens in it and is measured in its CPU time, that of one
// core. Then a core for each side, in wall time.
#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "bare_loop.h"
#include "rdma/soft/packet.h"
#include "soft_loop.h"

namespace {

using namespace pingloom;
using namespace pingloom::bench;
using rdma::RcOperation;
using rdma::soft::Opcode;

// Of a message as long as the task's, by the opcodes of its first, middle, last or only packet.
Packets packetsOf(const Task& task, const std::array<Opcode, 4>& opcodes) {
  const auto [first, middle, last, only] = opcodes;
  const auto bytes = [](Opcode opcode, std::size_t payload) {
    return rdma::soft::headerBytes(opcode) + payload + rdma::soft::kIcrcBytes;
  };
  if (task.bytes <= task.mtu) return {.first = bytes(only, task.bytes)};
  const std::size_t count = (task.bytes + task.mtu - 1) / task.mtu;
  return {bytes(first, task.mtu), bytes(middle, task.mtu),
          bytes(last, task.bytes - (count - 1) * task.mtu), count};
}

Packets onePacket(Opcode opcode) {
  return {.first = rdma::soft::headerBytes(opcode) + rdma::soft::kIcrcBytes};
}

Traffic trafficOf(const Task& task) {
  switch (task.operation) {
    case RcOperation::kRead:
      return {onePacket(Opcode::kRcReadRequest),
              packetsOf(task, {Opcode::kRcReadResponseFirst, Opcode::kRcReadResponseMiddle,
                               Opcode::kRcReadResponseLast, Opcode::kRcReadResponseOnly})};
    case RcOperation::kWrite:
      return {packetsOf(task, {Opcode::kRcWriteFirst, Opcode::kRcWriteMiddle, Opcode::kRcWriteLast,
                               Opcode::kRcWriteOnly}),
              onePacket(Opcode::kRcAcknowledge)};
    default:
      return {onePacket(Opcode::kRcFetchAdd), onePacket(Opcode::kRcAtomicAcknowledge)};
  }
}

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

constexpr std::array<Setting, 4> kSettings = {{
    {"UDP socket, iCRC by its residue, one core for both sides", false, Cores::kOne},
    {"UDP socket, iCRC by its residue, a core for each side", false, Cores::kTwo},
    {"raw socket, iCRC exact, one core for both sides", true, Cores::kOne},
    {"raw socket, iCRC exact, a core for each side", true, Cores::kTwo},
}};

Status compare(const Task& task, const Setting& setting, int runs) {
  std::vector<double> soft, bare, working;
  std::vector<double> ratios;
  for (int run = 0; run < runs; ++run) {
    const Traffic traffic = trafficOf(task);
    const auto limit = runBareLoop(traffic, task.depth, task.operations, setting, false);
    if (!limit) return tl::unexpected(limit.error());
    const auto work = runBareLoop(traffic, task.depth, task.operations, setting, true);
    if (!work) return tl::unexpected(work.error());
    const auto measured = SoftLoop().run(task, setting.raw, setting.cores);
    if (!measured) return tl::unexpected(measured.error());
    bare.push_back(*limit);
    working.push_back(*work);
    soft.push_back(*measured);
    ratios.push_back(*limit / *measured);
  }
  std::sort(ratios.begin(), ratios.end());
  const double took = medianOf(soft);
  const double worked = medianOf(working);
  std::printf("%-32s %9.0f %8.2f %9.0f %6.2f (%.2f .. %.2f) %9.0f %6.2f\n", task.name, 1e9 / took,
              static_cast<double>(task.bytes) / took, 1e9 / medianOf(bare),
              ratios[ratios.size() / 2], ratios.front(), ratios.back(), 1e9 / worked,
              worked / took);
  std::fflush(stdout);
  return {};
}

constexpr std::array<Task, 8> kTasks = {{
    {"READ 64 KiB, MTU 4096, 4 deep", RcOperation::kRead, 65536, 4096, 4, 10'000},
    {"READ 64 KiB, MTU 1024, 2 deep", RcOperation::kRead, 65536, 1024, 2, 5'000},
    {"READ 4 KiB, MTU 4096, 1 deep", RcOperation::kRead, 4096, 4096, 1, 10'000},
    {"READ 4 KiB, MTU 4096, 32 deep", RcOperation::kRead, 4096, 4096, 32, 20'000},
    {"WRITE 64 KiB, MTU 4096, 4 deep", RcOperation::kWrite, 65536, 4096, 4, 10'000},
    {"WRITE 64 B, 32 deep", RcOperation::kWrite, 64, 4096, 32, 30'000},
    {"FETCH_ADD, 1 deep", RcOperation::kFetchAdd, 8, 4096, 1, 10'000},
    {"FETCH_ADD, 32 deep", RcOperation::kFetchAdd, 8, 4096, 32, 30'000},
}};

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  int runs = 0;
  std::string only;
  po::options_description options("soft_rc_bench");
  options.add_options()("help", "show this")("runs", po::value(&runs)->default_value(5), "")(
      "only", po::value(&only), "tasks whose names have this in them");
  po::variables_map values;
  try {
    po::store(po::parse_command_line(argc, argv, options), values);
    po::notify(values);
  } catch (const po::error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  if (values.contains("help")) {
    std::cout << options;
    return 0;
  }
  for (const Setting& setting : kSettings) {
    std::printf("%s; median of %d\n", setting.name, runs);
    std::printf("%-32s %9s %8s %9s %6s %16s %9s %6s\n", "", "soft op/s", "GB/s", "bare op/s",
                "ratio", "", "working", "ratio");
    for (const Task& task : kTasks) {
      if (std::string_view(task.name).find(only) == std::string_view::npos) continue;
      if (const auto done = compare(task, setting, std::max(runs, 1)); !done) {
        std::printf("%s: %s\n", task.name, done.error().text().c_str());
        if (!setting.raw) return 1;
        break;
      }
    }
  }
  return 0;
}
