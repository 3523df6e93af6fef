// Exchanges per CPU-second over two soft devices: PING, PONG and, when its departure is known, ACK,
// both sides in one thread. Beside it, in turns, the bare loop over packets of the same size, for
// both ways to receive (a UDP socket; a raw one where CAP_NET_RAW allows).
#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <iostream>
#include <vector>

#include "bare_loop.h"
#include "rdma/soft/soft_device.h"

namespace {

using namespace pingloom;
using namespace pingloom::bench;
using rdma::PostResult;

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
  // One kind of message: T is its way to the other side's endpoint.
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
  // Polls until so many have come and so many departures are known; their payloads are read.
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

struct Spread {
  double median, least, most;
};
Spread spreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

Status compare(const ExchangeTask& task, bool raw, int runs) {
  std::vector<double> soft;
  std::vector<double> bare;
  std::vector<double> ratios;
  for (int run = 0; run < runs; ++run) {
    const auto limit = runBareLoop(task, raw);
    if (!limit) return tl::unexpected(limit.error());
    const auto measured = SoftLoop().run(task, raw);
    if (!measured) return tl::unexpected(measured.error());
    for (const ExchangeResult* result : {&*limit, &*measured}) {
      if (result->timestamps != 6 * result->exchanges) {
        std::printf("  timestamps missing: %lu of %lu\n",
                    6 * result->exchanges - result->timestamps, 6 * result->exchanges);
      }
    }
    bare.push_back(limit->perCpuSecond());
    soft.push_back(measured->perCpuSecond());
    ratios.push_back(soft.back() / bare.back());
  }
  const auto print = [](const char* what, const Spread& spread, int digits) {
    std::printf("  %-34s %10.*f  (%.*f .. %.*f)\n", what, digits, spread.median, digits,
                spread.least, digits, spread.most);
  };
  std::printf("%s\n", raw ? "raw socket, iCRC exact" : "UDP socket, iCRC by its residue");
  print("soft: exchanges per CPU-second", spreadOf(soft), 0);
  print("bare: exchanges per CPU-second", spreadOf(bare), 0);
  print("ratio", spreadOf(ratios), 2);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  ExchangeTask task;
  int runs = 0;
  po::options_description options("soft_ud_bench");
  options.add_options()("help", "show this")(
      "exchanges", po::value(&task.exchanges)->default_value(200'000), "in each run")(
      "batch", po::value(&task.batch)->default_value(64), "PINGs at a time, 1 to 64")(
      "payload", po::value(&task.payload)->default_value(64), "bytes of each message, 1 to 900")(
      "runs", po::value(&runs)->default_value(5), "");
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
  task.batch = std::clamp<std::size_t>(task.batch, 1, 64);
  task.payload = std::clamp<std::size_t>(task.payload, 1, 900);
  std::printf(
      "%lu exchanges of 3 messages of %zu bytes, %zu at a time; median (least .. most) of %d\n",
      task.exchanges, task.payload, task.batch, runs);
  for (const bool raw : {false, true}) {
    if (const auto done = compare(task, raw, std::max(runs, 1)); !done) {
      std::printf("%s\n", done.error().text().c_str());
      if (!raw) return 1;
    }
  }
  return 0;
}
