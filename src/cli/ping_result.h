// The result of one exchange of `pingloom ping`, and their summary. Plain values and pure
// functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/time.h"
#include "common/vocabulary.h"
#include "probe/window.h"

namespace pingloom::cli {

struct PingResult {
  std::string_view outcome;  // received, lost, refused, unreachable
  std::optional<Anomaly> anomaly;
  bool ack_lost = false;
  std::optional<Nanos> network;
  std::optional<Nanos> responder;
  std::optional<Nanos> prober;
  std::optional<Nanos> rtt;
};

// Returns the exchanges that completed since the pair was last cleared. The result is exact for one
// exchange. With several, exchanges without a split share the round trips that no split explains.
std::vector<PingResult> resultsOf(const probe::PairWindow& pair);

// "network 4.07 us, responder 21.3 us, prober 33.0 us, rtt 58.4 us", "lost", ...
std::string lineOf(const PingResult& result);
std::string jsonOf(const PingResult& result);

// Sums up all exchanges of a run.
class PingSummary {
 public:
  void add(const PingResult& result);
  // Late and duplicate replies are counted apart from the exchanges.
  void addReplies(std::uint32_t late, std::uint32_t duplicate);
  // Sets the number of pings that could not be sent for want of time or of a port.
  void setSkipped(std::uint64_t skipped) { skipped_ = skipped; }

  std::uint64_t received() const { return received_; }
  std::string text() const;  // several lines
  std::string json() const;

 private:
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t unreachable_ = 0;
  std::uint64_t ack_lost_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t duplicate_ = 0;
  std::uint64_t skipped_ = 0;
  std::array<std::uint64_t, kAnomalies> anomalous_{};
  Distribution network_;
  Distribution responder_;
  Distribution prober_;
  Distribution rtt_;
};

}  // namespace pingloom::cli
