// A one-off measurement: the agent's own prober with one target, on this thread, from a port of its
// own (an agent may run beside it).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "common/vocabulary.h"
#include "probe/window.h"

namespace pingloom::cli {

struct PingRequest {
  Protocol protocol = Protocol::kUdp;
  std::string device = "auto";  // rdma: as the agent's rdma.device
  IpAddress source;
  SocketAddress target;
  std::uint64_t count = 0;
  Nanos interval = kSecond;
  Nanos timeout = 500 * kMillisecond;
  std::uint32_t traffic_class = 0;
  std::uint32_t payload = 0;  // udp, rdma
};

// One thread.
class PingSession {
 public:
  virtual ~PingSession() = default;

  // Lets time pass until something happened: an exchange, a timer, or `stop` became readable (false
  // then). What has got its verdict is in pair(); the caller clears it.
  virtual bool wait(int stop) = 0;
  virtual probe::PairWindow& pair() = 0;
  virtual std::uint64_t skipped() = 0;  // pings that could not be sent in their interval
};

Result<std::unique_ptr<PingSession>> startPing(const PingRequest& request);

// The address from which this host would reach `target`.
Result<IpAddress> sourceTowards(const IpAddress& target);

}  // namespace pingloom::cli
