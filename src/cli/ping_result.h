// How one exchange of `pingloom ping` went. Plain values and pure functions; any thread.
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

// The exchanges that a pair has got verdicts on since it was last cleared. Exact where that is one
// exchange; of several, those without a split share the round trips that no split explains.
std::vector<PingResult> resultsOf(const probe::PairWindow& pair);

// "network 4.07 us, responder 21.3 us, prober 33.0 us, rtt 58.4 us", "lost", ...
std::string lineOf(const PingResult& result);
std::string jsonOf(const PingResult& result);

// All exchanges of a run.
class PingSummary {
 public:
  void add(const PingResult& result);
  void addBeside(std::uint32_t late, std::uint32_t duplicate);    // counted beside the exchanges
  void setSkipped(std::uint64_t skipped) { skipped_ = skipped; }  // not sent: no time or no port

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
