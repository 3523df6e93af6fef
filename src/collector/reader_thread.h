// Reads a share of the agents on its own thread and device. Any thread may call set().
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
  // limit of ZeroMQ sockets, enough for twice the maximum number of agents
  static constexpr int kMaxSockets = 20'000;

  // REQUIRES: the board outlives this. `collector` is this collector's name and `own` its keys;
  // nullopt stands for plaintext.
  static Result<std::unique_ptr<ReaderThread>> start(
      const IpAddress& address, const rdma::DeviceOptions& device, std::string collector,
      Board& board, const std::optional<net::CurvePair>& own = std::nullopt);
  ~ReaderThread();
  ReaderThread(const ReaderThread&) = delete;
  ReaderThread& operator=(const ReaderThread&) = delete;

  // Sets all agents to read; the sessions of agents that stay continue.
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
  std::vector<pollfd> ready_;  // the event's descriptor, then those of the sessions in order
  // index of a session's first descriptor in ready_, and the end
  std::vector<std::size_t> first_of_;
  UniqueFd event_;  // an eventfd that signals changes of agents_ or stop_
  std::mutex mutex_;
  std::vector<AgentSpec> agents_;  // these two are guarded by the mutex
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace pingloom::collector
