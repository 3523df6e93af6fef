// Reads a share of the agents on its own thread, through endpoints of its own. Any thread may call
// set().
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
#include "rdma/device.h"

namespace pingloom::collector {

// Says from where a reader reads.
struct ReaderPlace {
  std::size_t number = 0;  // the reader's number in its collector, which names the thread
  IpAddress address;       // the host's, from which the control connections leave
  // The address's device. Readers may share it unless it is a soft one.
  std::shared_ptr<rdma::Device> device;
};

class ReaderThread {
 public:
  // limit of ZeroMQ sockets, enough for twice the maximum number of agents
  static constexpr int kMaxSockets = 20'000;

  // REQUIRES: the board outlives this. `collector` is this collector's name and `own` its keys;
  // nullopt stands for plaintext.
  static Result<std::unique_ptr<ReaderThread>> start(
      ReaderPlace place, std::string collector, Board& board,
      const std::optional<net::CurvePair>& own = std::nullopt);
  ~ReaderThread() { stop(); }
  ReaderThread(const ReaderThread&) = delete;
  ReaderThread& operator=(const ReaderThread&) = delete;

  // Sets all agents to read; the sessions of agents that stay continue.
  void set(std::vector<AgentSpec> agents);
  // Ends the thread and its sessions; the device stays open. Agents that are set later are not
  // read.
  void stop();
  const rdma::DeviceInfo& device() const { return place_.device->info(); }

 private:
  ReaderThread(ReaderPlace place, std::string collector, Board& board,
               const std::optional<net::CurvePair>& own)
      : place_(std::move(place)),
        collector_(std::move(collector)),
        own_(own),
        board_(board),
        context_(kMaxSockets) {}
  void run();
  void takeAgents();
  void wait();

  const ReaderPlace place_;
  const std::string collector_;
  const std::optional<net::CurvePair> own_;
  Board& board_;
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
