// Simulates agents that only deliver. Each has a connection of its own, registers, sends
// heartbeats, and has at most kInFlight batches that are not acknowledged, as the real agent. Rows
// are prebuilt: only incarnation, sequence and window number differ from batch to batch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "common/error.h"
#include "common/time.h"
#include "scene.h"

namespace pingloom::bench {

constexpr std::uint32_t kInFlight = 8;
constexpr std::uint32_t kSamplesPerPart = 10;

// Makes the rows of one report, with kSamplesPerPart samples in each of the four parts of a row.
std::string prebuiltRows(const Shape& shape);
// Makes a serialized AgentMessage with one batch of one report.
std::string batchMessage(const std::string& rows, std::uint32_t agent, std::uint64_t sequence,
                         std::uint64_t window_index);

class Fleet {
 public:
  static Result<std::unique_ptr<Fleet>> connect(const std::string& control, const Shape& shape);
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // Delivers everything and returns when the last batch is acknowledged. It offers `rate` rows/s,
  // or as many as are taken if that is 0.
  Status deliver(double rate);
  std::uint64_t lastWindow() const { return first_window_ + shape_.rounds - 1; }

 private:
  struct Agent {
    zmq::socket_t socket;
    std::uint64_t sent = 0;
    std::uint64_t acknowledged = 0;
    bool registered = false;
    Nanos heartbeat_due = 0;
  };

  explicit Fleet(const Shape& shape) : shape_(shape) {}
  Status open(const std::string& control);
  void start(const std::string& control);
  Status receive(Agent& agent);
  void sendDue(Agent& agent, std::uint64_t allowed, Nanos now);

  Shape shape_;
  std::string rows_;
  zmq::context_t context_;
  std::vector<Agent> agents_;
  std::uint64_t first_window_ = 0;
};

}  // namespace pingloom::bench
