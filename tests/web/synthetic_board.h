// A board with made-up rows, for looking at the page without a fleet. One thread writes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "controller/model/board.h"

namespace pingloom::test {

class SyntheticBoard {
 public:
  // Probes: "udp" is a mesh of all hosts, "gpu-to-storage" goes from them to two addresses without
  // agents by tcp, "rdma" has no windows yet. Times depend on the distance between racks.
  explicit SyntheticBoard(std::uint32_t hosts);

  controller::Board& board() { return board_; }
  // Makes another plan of as many hosts, without probes where there are none; the first may have a
  // name of its own.
  void usePlan(std::uint32_t hosts, const std::string& first_name = "gpu-001");
  // Another plan in which this host is called so and has these labels; the pairs are as they were.
  void describeHost(std::uint32_t host, const std::string& name,
                    const std::map<std::string, std::string>& labels);
  // Publishes every row of a window of its own.
  void publishAll();
  // Publishes one source of one probe; the pair to `destination` is in `state`.
  void publishPair(std::uint32_t probe, std::uint32_t source, std::uint32_t destination,
                   PairState state);
  // From now on, all pairs of this host take 2 ms more.
  void slowDown(std::uint32_t host);
  void rejectPinglist(const std::string& error);
  // Some of every state, where a person looking at it can find them.
  void publishTroubles();

 private:
  void publish(std::uint32_t probe, std::uint32_t source);
  controller::Row rowFor(std::uint32_t probe, std::uint32_t source, std::uint32_t destination,
                         PairState state) const;
  PairState& stateAt(std::uint32_t probe, std::uint32_t source, std::uint32_t destination);
  PairState stateAt(std::uint32_t probe, std::uint32_t source, std::uint32_t destination) const;
  void publishStatus();

  controller::Board board_;
  std::shared_ptr<const controller::GridPlan> plan_;
  std::vector<std::vector<PairState>> states_;  // by probe, then source x destination
  std::uint64_t generation_ = 0;
  std::uint32_t slow_host_ = UINT32_MAX;
  std::string pinglist_error_;
  std::uint64_t round_ = 0;
};

}  // namespace pingloom::test
