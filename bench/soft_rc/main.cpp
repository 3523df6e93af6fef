// One-sided operations between two soft devices on loopback, both in one thread, iCRC on. Beside
// each, in turns, the bare loop over datagrams of the same sizes. Everything, the kernel's part
// too, happens in this thread, which never waits: it is measured in its CPU time, that of one core.
#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "bare_loop.h"
#include "rdma/soft/packet.h"
#include "rdma/soft/soft_device.h"

namespace {

using namespace pingloom;
using namespace pingloom::bench;
using rdma::RcOperation;
using rdma::soft::Opcode;

struct Task {
  const char* name;
  RcOperation operation;
  std::size_t bytes;
  std::uint32_t mtu;
  std::size_t depth;
  std::uint64_t operations;
};

constexpr std::size_t kRegion = 4 << 20;
constexpr rdma::Access kAll = rdma::Access::kRead | rdma::Access::kWrite | rdma::Access::kAtomic;

struct Side {
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(kRegion);
  std::unique_ptr<rdma::Device> device;
  std::unique_ptr<rdma::MemoryRegion> region;
  std::unique_ptr<rdma::RcEndpoint> endpoint;
  rdma::RcEvents events;

  Status open(std::uint32_t address, bool raw, const rdma::RcOptions& rc) {
    rdma::soft::SoftOptions options;
    options.raw_socket = raw;
    auto opened = rdma::soft::openSoftDevice(IpAddress::fromV4(address), options);
    if (!opened) return tl::unexpected(opened.error());
    device = std::move(*opened);
    if (raw && device->info().icrc_check != "exact")
      return makeError("soft loop", "no CAP_NET_RAW");
    auto registered = device->registerMemory(memory, kAll);
    if (!registered) return tl::unexpected(registered.error());
    region = std::move(*registered);
    auto created = device->createRc(rc);
    if (!created) return tl::unexpected(created.error());
    endpoint = std::move(*created);
    return {};
  }
};

class SoftLoop {
 public:
  // Nanoseconds per operation.
  Result<double> run(const Task& task, bool raw) {
    if (auto opened = open(task, raw); !opened) return tl::unexpected(opened.error());
    const Nanos begin = cpuNow();
    std::uint64_t posted = 0;
    std::uint64_t done = 0;
    while (done < task.operations) {
      for (; posted < task.operations && posted - done < task.depth; ++posted) {
        if (auto went = post(task, posted); !went) return tl::unexpected(went.error());
      }
      asking_.endpoint->flush();
      for (Side* side : {&answering_, &asking_}) {
        if (auto polled = side->endpoint->poll(side->events); !polled) {
          return tl::unexpected(polled.error());
        }
      }
      done += asking_.events.done.size();
    }
    return static_cast<double>(cpuNow() - begin) / static_cast<double>(done);
  }

 private:
  Status open(const Task& task, bool raw) {
    rdma::RcOptions rc;
    rc.access = kAll;
    rc.mtu = task.mtu;
    rc.reads = 64;
    if (auto opened = asking_.open(kAskingAddress, raw, rc); !opened) return opened;
    if (auto opened = answering_.open(kAnsweringAddress, raw, rc); !opened) return opened;
    auto connected = asking_.endpoint->connect(answering_.endpoint->address());
    if (!connected) return connected;
    return answering_.endpoint->connect(asking_.endpoint->address());
  }
  Status post(const Task& task, std::uint64_t number) {
    const std::size_t at = number % task.depth * task.bytes;
    const std::array<rdma::LocalPiece, 1> pieces = {
        {{asking_.region.get(), std::span(asking_.memory).subspan(at, task.bytes)}}};
    rdma::RcRequest request;
    request.operation = task.operation;
    request.local = pieces;
    request.remote_address = answering_.region->address() + at;
    request.rkey = answering_.region->rkey();
    request.add_or_swap = 1;
    if (asking_.endpoint->post(request) == rdma::PostResult::kPosted) return {};
    return makeError("soft loop", "cannot post");
  }

  Side asking_;
  Side answering_;
};

Traffic trafficOf(const Task& task) {
  const auto bytes = [](Opcode opcode, std::size_t payload) {
    return rdma::soft::headerBytes(opcode) + payload + rdma::soft::kIcrcBytes;
  };
  const std::size_t payload = std::min<std::size_t>(task.bytes, task.mtu);
  const std::size_t packets = (task.bytes + task.mtu - 1) / task.mtu;
  if (task.operation == RcOperation::kRead) {
    return {
        bytes(Opcode::kRcReadRequest, 0), 1,
        bytes(packets > 1 ? Opcode::kRcReadResponseMiddle : Opcode::kRcReadResponseOnly, payload),
        packets};
  }
  if (task.operation == RcOperation::kWrite) {
    return {bytes(packets > 1 ? Opcode::kRcWriteMiddle : Opcode::kRcWriteOnly, payload), packets,
            bytes(Opcode::kRcAcknowledge, 0), 1};
  }
  return {bytes(Opcode::kRcFetchAdd, 0), 1, bytes(Opcode::kRcAtomicAcknowledge, 0), 1};
}

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Status compare(const Task& task, bool raw, int runs) {
  std::vector<double> soft;
  std::vector<double> bare;
  std::vector<double> ratios;
  for (int run = 0; run < runs; ++run) {
    const auto limit = runBareLoop(trafficOf(task), task.depth, task.operations, raw);
    if (!limit) return tl::unexpected(limit.error());
    const auto measured = SoftLoop().run(task, raw);
    if (!measured) return tl::unexpected(measured.error());
    bare.push_back(*limit);
    soft.push_back(*measured);
    ratios.push_back(*limit / *measured);
  }
  std::sort(ratios.begin(), ratios.end());
  const auto bytes = static_cast<double>(task.bytes);
  std::printf("%-32s %9.0f %9.0f %8.2f %8.2f %6.2f (%.2f .. %.2f)\n", task.name,
              1e9 / medianOf(soft), 1e9 / medianOf(bare), bytes / medianOf(soft),
              bytes / medianOf(bare), ratios[ratios.size() / 2], ratios.front(), ratios.back());
  std::fflush(stdout);
  return {};
}

constexpr std::array<Task, 8> kTasks = {{
    {"READ 64 KiB, MTU 4096, 4 deep", RcOperation::kRead, 65536, 4096, 4, 2'000},
    {"READ 64 KiB, MTU 1024, 2 deep", RcOperation::kRead, 65536, 1024, 2, 1'000},
    {"READ 4 KiB, MTU 4096, 1 deep", RcOperation::kRead, 4096, 4096, 1, 10'000},
    {"READ 4 KiB, MTU 4096, 32 deep", RcOperation::kRead, 4096, 4096, 32, 20'000},
    {"WRITE 64 KiB, MTU 4096, 4 deep", RcOperation::kWrite, 65536, 4096, 4, 2'000},
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
  for (const bool raw : {false, true}) {
    std::printf("%s; median of %d\n",
                raw ? "raw socket, iCRC exact" : "UDP socket, iCRC by its residue", runs);
    std::printf("%-32s %9s %9s %8s %8s %6s\n", "", "soft op/s", "bare op/s", "GB/s", "bare",
                "ratio");
    for (const Task& task : kTasks) {
      if (std::string_view(task.name).find(only) == std::string_view::npos) continue;
      if (const auto done = compare(task, raw, std::max(runs, 1)); !done) {
        std::printf("%s: %s\n", task.name, done.error().text().c_str());
        if (!raw) return 1;
        break;
      }
    }
  }
  return 0;
}
