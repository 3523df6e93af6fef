// Measures one-sided operations between two soft devices on loopback, iCRC on. In turns with them
// runs the bare loop over datagrams of the same sizes, which looks at nothing, and the same loop
// when it does what must be done to the bytes. With a core for each side, wall time is measured.
// With one core, both sides are in one thread that never waits: everything, the kernel's part too,
// happens in it and is measured in its CPU time.
#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "bare_loop.h"
#include "common/program.h"
#include "rdma/soft/packet.h"
#include "shared/figures.h"
#include "soft_loop.h"

namespace {

using namespace pingloom;
using namespace pingloom::bench;
using rdma::RcOperation;
using rdma::soft::Opcode;

// Gives the packets of a message as long as the task's, by the opcodes of its first, middle, last
// or only packet.
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

constexpr std::array<Setting, 4> kSettings = {{
    {"UDP socket, a core for each side", false, Cores::kTwo},
    {"UDP socket, one core", false, Cores::kOne},
    {"raw socket, a core for each side", true, Cores::kTwo},
    {"raw socket, one core", true, Cores::kOne},
}};

std::string rowOf(const Task& task, const Setting& setting) {
  return std::string(setting.name) + " | " + task.name + " | ";
}

// Makes one run of the soft devices alone, for a profile that shows nothing else.
Status measureSoft(const Task& task, const Setting& setting, Figures& figures) {
  const auto soft = SoftLoop().run(task, setting.raw, setting.cores);
  if (!soft) return tl::unexpected(soft.error());
  figures.add(rowOf(task, setting) + "soft device", "operations/s", 1e9 / *soft);
  return {};
}

// Makes one run of the bare loop, of the working loop, and of the soft devices.
Status compare(const Task& task, const Setting& setting, Figures& figures) {
  const Traffic traffic = trafficOf(task);
  const auto bare = runBareLoop(traffic, task.depth, task.operations, setting, false);
  if (!bare) return tl::unexpected(bare.error());
  const auto working = runBareLoop(traffic, task.depth, task.operations, setting, true);
  if (!working) return tl::unexpected(working.error());
  const auto soft = SoftLoop().run(task, setting.raw, setting.cores);
  if (!soft) return tl::unexpected(soft.error());
  const std::string row = rowOf(task, setting);
  figures.add(row + "soft device", "operations/s", 1e9 / *soft);
  if (task.operation != RcOperation::kFetchAdd) {
    figures.add(row + "bytes", "GB/s", static_cast<double>(task.bytes) / *soft);
  }
  figures.add(row + "limit: bare loop", "operations/s", 1e9 / *bare);
  figures.add(row + "ratio to bare", "", *bare / *soft);
  figures.add(row + "working loop", "operations/s", 1e9 / *working);
  figures.add(row + "ratio to working", "", *working / *soft);
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
  int runs = 5;
  std::string only;
  bool soft_only = false;
  po::options_description options("Options");
  options.add_options()("runs", po::value(&runs)->default_value(runs), "how many runs to make")(
      "only", po::value(&only),
      "measure only operations whose setting and name, SETTING | NAME, contain this")(
      "soft-only", po::bool_switch(&soft_only), "leave out the loops that they are compared with");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = program::parse({"soft_rc_bench", "soft_rc_bench [OPTIONS]",
                                        "One-sided operations between two soft devices."},
                                       arguments, options, {}, values)) {
    return *code;
  }
  Figures figures;
  for (const Setting& setting : kSettings) {
    for (const Task& task : kTasks) {
      if (rowOf(task, setting).find(only) == std::string::npos) continue;
      for (int run = 0; run < std::max(runs, 1); ++run) {
        const auto done =
            soft_only ? measureSoft(task, setting, figures) : compare(task, setting, figures);
        if (done) continue;
        std::fprintf(stderr, "soft_rc_bench: %s, %s: %s\n", setting.name, task.name,
                     done.error().text().c_str());
        if (!setting.raw) return 1;
        break;
      }
    }
  }
  figures.print();
  return 0;
}
