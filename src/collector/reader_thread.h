// Reads a share of the agents, on a thread and a device of its own. set() from any thread.
#pragma once

#include <poll.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "collector/agent_session.h"
#include "collector/board.h"
#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "net/zmq_dealer.h"
#include "rdma/open_device.h"

namespace pingloom::collector {

class ReaderThread {
 public:
  static constexpr int kMaxSockets = 20'000;  // of ZeroMQ: of twice as many agents as there may be

  // The board outlives it. `collector`: this collector's name; `own`: its keys, none: plaintext.
  static Result<std::unique_ptr<ReaderThread>> start(
      const IpAddress& address, const rdma::DeviceOptions& device, std::string collector,
      Board& board, const std::optional<net::CurvePair>& own = std::nullopt);
  ~ReaderThread();
  ReaderThread(const ReaderThread&) = delete;
  ReaderThread& operator=(const ReaderThread&) = delete;

  // All agents that it reads from now on; sessions of those that stay go on.
  void set(std::vector<AgentSpec> agents);
  const rdma::DeviceInfo& device() const { return device_->info(); }

 private:
  ReaderThread(const IpAddress& address, std::string collector, Board& board,
               const std::optional<net::CurvePair>& own)
      : address_(address),
        collector_(std::move(collector)),
        own_(own),
        board_(board),
        context_(kMaxSockets) {}
  void run();
  void takeAgents();
  void wait();

  const IpAddress address_;
  const std::string collector_;
  const std::optional<net::CurvePair> own_;
  Board& board_;
  std::unique_ptr<rdma::Device> device_;
  net::ZmqContext context_;
  std::vector<std::unique_ptr<AgentSession>> sessions_;
  std::vector<pollfd> ready_;          // the event's, then those of the sessions in their order
  std::vector<std::size_t> first_of_;  // a session's in ready_, and the end
  UniqueFd event_;                     // eventfd: agents_ or stop_ are new
  std::mutex mutex_;
  std::vector<AgentSpec> agents_;  // these two: under the mutex
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace pingloom::collector
