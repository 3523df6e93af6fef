// Measures exchanges per CPU-second over two soft devices: PING, PONG and, when its departure is
// known, ACK, with both sides in one thread. The bare loop moves packets of the same size in turns
// with it. Both are measured with a UDP socket and, where CAP_NET_RAW allows, with a raw one.
#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "common/program.h"
#include "rdma/soft/soft_device.h"
#include "shared/bare_roce_loop.h"
#include "shared/clocks.h"
#include "shared/figures.h"

namespace {

using namespace pingloom;
using namespace pingloom::bench;
using rdma::PostResult;

constexpr std::uint64_t kTimestamps = 6;  // of an exchange

struct Side {
  std::unique_ptr<rdma::Device> device;
  std::unique_ptr<rdma::UdEndpoint> endpoint;
  rdma::UdEvents events;

  Status open(std::uint32_t address, bool raw) {
    rdma::soft::SoftOptions options;
    options.raw_socket = raw;
    auto opened = rdma::soft::openSoftDevice(IpAddress::fromV4(address), options);
    if (!opened) return tl::unexpected(opened.error());
    device = std::move(*opened);
    auto created = device->createUd({});
    if (!created) return tl::unexpected(created.error());
    endpoint = std::move(*created);
    return {};
  }
};

class SoftLoop {
 public:
  Result<ExchangeResult> run(const ExchangeTask& task, bool raw) {
    if (auto opened = prober_.open(kProberAddress, raw); !opened) {
      return tl::unexpected(opened.error());
    }
    if (auto opened = responder_.open(kResponderAddress, raw); !opened) {
      return tl::unexpected(opened.error());
    }
    if (raw && prober_.device->info().icrc_check != "exact") {
      return makeError("soft loop", "no CAP_NET_RAW");
    }
    payload_.assign(task.payload, 7);
    const Nanos before = threadCpu();
    while (result_.exchanges < task.exchanges) {
      if (auto went = exchange(task.batch); !went) return tl::unexpected(went.error());
    }
    result_.cpu = threadCpu() - before;
    return result_;
  }

 private:
  // Sends messages to the other side's endpoint.
  Status send(Side& from, const Side& to, std::size_t count) {
    rdma::UdMessage message;
    message.path.gid = to.endpoint->address().gid;
    message.qpn = to.endpoint->address().qpn;
    message.q_key = to.endpoint->address().q_key;
    message.payload = payload_;
    for (std::size_t i = 0; i < count; ++i) {
      message.id = i;
      if (from.endpoint->post(message) != PostResult::kPosted) {
        return makeError("soft loop", "the send queue is full");
      }
    }
    from.endpoint->flush();
    return {};
  }
  // Polls until so many messages have come and so many departures are known, and looks at each
  // payload.
  Status take(Side& side, std::size_t arrivals, std::size_t departures) {
    const Nanos deadline = monotonicNow() + kSecond;
    while (arrivals > 0 || departures > 0) {
      if (auto polled = side.endpoint->poll(side.events); !polled) return polled;
      for (const rdma::UdSent& sent : side.events.sent) result_.timestamps += sent.ticks ? 1 : 0;
      for (const rdma::UdReceived& received : side.events.received) {
        result_.timestamps += received.ticks ? 1 : 0;
        if (received.payload[0] != 7) return makeError("soft loop", "a wrong payload");
      }
      if (side.events.received.size() > arrivals || side.events.sent.size() > departures) {
        return makeError("soft loop", "more than was sent");
      }
      arrivals -= side.events.received.size();
      departures -= side.events.sent.size();
      if (monotonicNow() > deadline) return makeError("soft loop", "a packet was lost");
    }
    return {};
  }
  Status exchange(std::size_t batch) {
    if (auto sent = send(prober_, responder_, batch); !sent) return sent;
    if (auto taken = take(responder_, batch, 0); !taken) return taken;
    if (auto sent = send(responder_, prober_, batch); !sent) return sent;
    if (auto taken = take(responder_, 0, batch); !taken) return taken;
    if (auto sent = send(responder_, prober_, batch); !sent) return sent;
    if (auto taken = take(prober_, 2 * batch, batch); !taken) return taken;
    if (auto taken = take(responder_, 0, batch); !taken) return taken;
    result_.exchanges += batch;
    return {};
  }

  Side prober_;
  Side responder_;
  std::vector<std::uint8_t> payload_;
  ExchangeResult result_;
};

void warnOfMissing(const char* what, const ExchangeResult& result) {
  if (result.timestamps == kTimestamps * result.exchanges) return;
  std::printf("  %s: %lu of %lu timestamps are missing\n", what,
              kTimestamps * result.exchanges - result.timestamps, kTimestamps * result.exchanges);
}

Status compare(const ExchangeTask& task, bool raw, Figures& figures) {
  const auto bare = runBareRoceLoop(task, raw);
  if (!bare) return tl::unexpected(bare.error());
  const auto soft = SoftLoop().run(task, raw);
  if (!soft) return tl::unexpected(soft.error());
  warnOfMissing("bare loop", *bare);
  warnOfMissing("soft device", *soft);
  const std::string row = raw ? "raw socket, iCRC exact | " : "UDP socket, iCRC by its residue | ";
  figures.add(row + "soft device", "exchanges/s of CPU", soft->perCpuSecond());
  figures.add(row + "limit: bare loop", "exchanges/s of CPU", bare->perCpuSecond());
  figures.add(row + "ratio", "", soft->perCpuSecond() / bare->perCpuSecond());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  ExchangeTask task{200'000, 64, 64};
  int runs = 5;
  po::options_description options("Options");
  options.add_options()("exchanges", po::value(&task.exchanges)->default_value(task.exchanges),
                        "exchanges in each run")("batch",
                                                 po::value(&task.batch)->default_value(task.batch),
                                                 "PINGs that are sent at a time, 1 to 64")(
      "payload", po::value(&task.payload)->default_value(task.payload),
      "bytes of each message, 1 to 900")("runs", po::value(&runs)->default_value(runs),
                                         "how many runs to make");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = program::parse({"soft_ud_bench", "soft_ud_bench [OPTIONS]",
                                        "Exchanges per CPU-second over two soft devices."},
                                       arguments, options, {}, values)) {
    return *code;
  }
  task.batch = std::clamp<std::size_t>(task.batch, 1, 64);
  task.payload = std::clamp<std::size_t>(task.payload, 1, 900);
  std::printf("%lu exchanges of 3 messages of %zu bytes, %zu at a time\n", task.exchanges,
              task.payload, task.batch);
  Figures figures;
  for (const bool raw : {false, true}) {
    for (int run = 0; run < std::max(runs, 1); ++run) {
      const auto done = compare(task, raw, figures);
      if (done) continue;
      std::fprintf(stderr, "soft_ud_bench: %s\n", done.error().text().c_str());
      if (!raw) return 1;
      break;
    }
  }
  figures.print();
  return 0;
}
