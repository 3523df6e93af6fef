// A board with made-up rows, for tests of the page without a fleet. One thread writes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "controller/model/board.h"

namespace pingloom::test {

class SyntheticBoard {
 public:
  // The probes are "udp", a mesh of all hosts; "gpu-to-storage", by TCP from all hosts to two
  // addresses without agents; and "rdma", which has no windows yet. Times depend on the distance
  // between racks.
  explicit SyntheticBoard(std::uint32_t hosts);

  controller::Board& board() { return board_; }
  // Makes a new plan with this number of hosts, and without probes where it is 0. `first_name` is
  // the first host's name.
  void usePlan(std::uint32_t hosts, const std::string& first_name = "gpu-001");
  // Makes a new plan in which this host has this name and these labels; the pairs do not change.
  void describeHost(std::uint32_t host, const std::string& name,
                    const std::map<std::string, std::string>& labels);
  // Publishes a new window of every source.
  void publishAll();
  // Publishes one source of one probe, with the pair to `destination` in `state`.
  void publishPair(std::uint32_t probe, std::uint32_t source, std::uint32_t destination,
                   PairState state);
  // Adds 2 ms to all pairs of this host from now on.
  void slowDown(std::uint32_t host);
  // Judges all windows from now on, and publishes a verdict: this host is very slow, a single pair
  // of another is lossy and acknowledged, and there are a silence and a maintenance.
  void judge(std::uint32_t host);
  void rejectPinglist(const std::string& error);
  // Publishes some pairs of every state, spread so that a person finds them.
  void publishTroubles();

 private:
  void publish(std::uint32_t probe, std::uint32_t source);
  controller::Row rowFor(std::uint32_t probe, std::uint32_t source, std::uint32_t destination,
                         PairState state) const;
  PairState& stateAt(std::uint32_t probe, std::uint32_t source, std::uint32_t destination);
  PairState stateAt(std::uint32_t probe, std::uint32_t source, std::uint32_t destination) const;
  controller::Judged judgedAs(std::uint32_t probe, std::uint32_t source, std::uint32_t destination,
                              PairState state) const;
  controller::Incident slowIncident(std::uint32_t host, Nanos now) const;
  controller::Incident lossyIncident(std::uint32_t source, std::uint32_t destination,
                                     Nanos now) const;
  void publishStatus();

  controller::Board board_;
  std::shared_ptr<const controller::GridPlan> plan_;
  std::vector<std::vector<PairState>> states_;  // by probe, then source x destination
  std::uint64_t generation_ = 0;
  std::uint32_t slow_host_ = UINT32_MAX;
  bool judging_ = false;
  std::string pinglist_error_;
  std::uint64_t round_ = 0;
};

}  // namespace pingloom::test
