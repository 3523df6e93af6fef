// A one-off measurement by the agent's own prober with one target. It runs on the calling thread
// and uses its own port, so an agent may run on the same host.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "common/address.h"
#include "common/error.h"
#include "common/time.h"
#include "common/vocabulary.h"
#include "plan/plan.h"
#include "probe/window.h"

namespace pingloom::cli {

struct PingRequest {
  Protocol protocol = Protocol::kUdp;
  std::string device = "auto";  // rdma only; has the forms of the agent's rdma.device
  IpAddress source;
  SocketAddress target;
  std::uint64_t count = 0;
  Nanos interval = kSecond;
  Nanos timeout = 500 * kMillisecond;
  std::uint32_t traffic_class = 0;
  std::uint32_t payload = 0;  // bytes of a PING; udp and rdma only
};

// A measurement in progress; used by one thread.
class PingSession {
 public:
  virtual ~PingSession() = default;

  // Waits until an exchange or a timer makes progress. Returns false when `stop` became readable.
  // pair() holds the exchanges that completed; the caller clears it.
  virtual bool wait(int stop) = 0;
  virtual probe::PairWindow& pair() = 0;
  virtual std::uint64_t skipped() = 0;  // pings that could not be sent in their interval
};

// Returns the request as an assignment for a prober: one target, and a window that is longer than
// any run, because the caller takes each result out of the window instead of waiting for it to
// close.
std::shared_ptr<const plan::Assignment> assignmentOf(const PingRequest& request);

Result<std::unique_ptr<PingSession>> startPing(const PingRequest& request);

// Returns the address from which this host would reach `target`.
Result<IpAddress> sourceTowards(const IpAddress& target);

}  // namespace pingloom::cli
